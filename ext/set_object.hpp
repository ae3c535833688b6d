// What the classes KeySieve\Set, KeySieve\Map and KeySieve\SeenSet have in common: an object that stands for
// a set of this thread, found by its name. Set is PublishedSet, for two of the classes, or SeenSet.
#pragma once

#include "ext/set_table.hpp"

namespace keysieve {

template <typename Set>
struct SetObject {
  Set* set;                                         // nullptr before the constructor has run
  [[no_unique_address]] typename Set::Terms terms;  // how this object asks it
  zend_object std;                                  // last: PHP puts the properties behind it

  // Called from MINIT. An object is not cloned, and equals only itself: two of one set may answer
  // differently.
  static void prepare(zend_class_entry* registered) {
    registered->create_object = create;
    handlers = std_object_handlers;
    handlers.offset = offsetof(SetObject, std);
    handlers.free_obj = free;
    handlers.clone_obj = nullptr;
    handlers.compare = zend_objects_not_comparable;
  }

  // For a constructor: finds the set and fills the first property, the name. nullptr with an exception
  // pending if no set can be called so, or if the object has one already.
  static SetObject* construct(zval* object, zend_string* name) {
    zval* name_property = OBJ_PROP_NUM(Z_OBJ_P(object), 0);
    if (Z_TYPE_P(name_property) != IS_UNDEF) {
      zend_throw_error(nullptr, "Cannot modify readonly property %s::$name", class_name(object));
      return nullptr;
    }
    Set* set = Set::table().ask(name);
    if (set == nullptr) return nullptr;
    SetObject* constructed = of(Z_OBJ_P(object));
    constructed->set = set;
    set->hold();
    ZVAL_STR_COPY(name_property, name);
    return constructed;
  }
  // Fills the second property, which holds the profile for the terms. nullptr: none.
  void require_profile(zend_string* key_profile) {
    terms.key_profile = key_profile;
    if (key_profile == nullptr) {
      ZVAL_NULL(OBJ_PROP_NUM(&std, 1));
    } else {
      ZVAL_STR_COPY(OBJ_PROP_NUM(&std, 1), key_profile);
    }
  }

  // nullptr, with an Error pending, for an object whose constructor has not run. Other code can see one only
  // from within an error handler.
  static SetObject* constructed(zval* object) {
    SetObject* constructed = of(Z_OBJ_P(object));
    if (EXPECTED(constructed->set != nullptr)) return constructed;
    zend_throw_error(nullptr, "%s object is not initialized", class_name(object));
    return nullptr;
  }

 private:
  inline static zend_object_handlers handlers;

  static SetObject* of(zend_object* object) noexcept {
    return reinterpret_cast<SetObject*>(reinterpret_cast<char*>(object) - offsetof(SetObject, std));
  }
  static const char* class_name(const zval* object) noexcept { return ZSTR_VAL(Z_OBJCE_P(object)->name); }

  static zend_object* create(zend_class_entry* of_class) {
    auto* object = static_cast<SetObject*>(zend_object_alloc(sizeof(SetObject), of_class));
    object->set = nullptr;
    object->terms = {};
    zend_object_std_init(&object->std, of_class);
    object_properties_init(&object->std, of_class);
    object->std.handlers = &handlers;
    return &object->std;
  }
  static void free(zend_object* object) {
    if (Set* set = of(object)->set; set != nullptr) set->let_go();
    zend_object_std_dtor(object);
  }
};

}  // namespace keysieve
