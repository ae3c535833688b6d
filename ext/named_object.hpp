// What the classes KeySieve\Set, KeySieve\Map and KeySieve\SeenSet have in common: an object that stands for
// a set of this thread, found by its name. `Own` is what an object holds besides its properties. Its member
// `set` is nullptr before the constructor has run. Own::table() is where sets are found.
#pragma once

#include "ext/exceptions.hpp"
#include "ext/zend.hpp"

namespace keysieve {

template <typename Own>
struct NamedObject {
  Own own;
  zend_object std;  // last: PHP puts the properties behind it

  // Called from MINIT. An object is not cloned, and equals only itself: two of one set may answer
  // differently.
  static void prepare(zend_class_entry* registered) {
    registered->create_object = create;
    handlers = std_object_handlers;
    handlers.offset = offsetof(NamedObject, std);
    handlers.free_obj = free;
    handlers.clone_obj = nullptr;
    handlers.compare = zend_objects_not_comparable;
  }

  // For a constructor: finds the set and fills the first property, the name. nullptr with an exception
  // pending if no set can be called so, or if the object has one already.
  static Own* construct(zval* object, zend_string* name) {
    zval* name_property = OBJ_PROP_NUM(Z_OBJ_P(object), 0);
    if (Z_TYPE_P(name_property) != IS_UNDEF) {
      zend_throw_error(nullptr, "Cannot modify readonly property %s::$name", class_name(object));
      return nullptr;
    }
    Own::table().make_room();
    auto* set = Own::table().find(name);
    if (set == nullptr) {
      throw_invalid_name(name);
      return nullptr;
    }
    Own& own = of(Z_OBJ_P(object))->own;
    own.set = set;
    set->hold();
    ZVAL_STR_COPY(name_property, name);
    return &own;
  }

  // nullptr, with an Error pending, for an object whose constructor has not run. Other code can see one only
  // from within an error handler.
  static Own* constructed(zval* object) {
    Own& own = of(Z_OBJ_P(object))->own;
    return EXPECTED(own.set != nullptr) ? &own : refuse(object);
  }

 private:
  [[gnu::noinline, gnu::cold]] static Own* refuse(const zval* object) {
    zend_throw_error(nullptr, "%s object is not initialized", class_name(object));
    return nullptr;
  }

  inline static zend_object_handlers handlers;

  static NamedObject* of(zend_object* object) noexcept {
    return reinterpret_cast<NamedObject*>(reinterpret_cast<char*>(object) - offsetof(NamedObject, std));
  }
  static const char* class_name(const zval* object) noexcept { return ZSTR_VAL(Z_OBJCE_P(object)->name); }

  static zend_object* create(zend_class_entry* of_class) {
    auto* object = static_cast<NamedObject*>(zend_object_alloc(sizeof(NamedObject), of_class));
    object->own = {};
    zend_object_std_init(&object->std, of_class);
    object_properties_init(&object->std, of_class);
    object->std.handlers = &handlers;
    return &object->std;
  }
  static void free(zend_object* object) {
    if (auto* set = of(object)->own.set; set != nullptr && set->let_go()) delete set;
    zend_object_std_dtor(object);
  }
};

}  // namespace keysieve
