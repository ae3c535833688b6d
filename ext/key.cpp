#include "ext/key.hpp"

namespace keysieve {

zend_class_entry* key_class = nullptr;

namespace {

zend_object_handlers key_handlers;

zend_object* create_key(zend_class_entry* of_class) {
  auto* key = static_cast<KeyObject*>(zend_object_alloc(sizeof(KeyObject), of_class));
  key->is_hashed = false;
  zend_object_std_init(&key->std, of_class);
  object_properties_init(&key->std, of_class);
  key->std.handlers = &key_handlers;
  return &key->std;
}

zend_object* clone_key(zend_object* old) {
  zend_object* clone = create_key(old->ce);
  zend_objects_clone_members(clone, old);
  return clone;
}

}  // namespace

void prepare_key_class(zend_class_entry* registered) {
  key_class = registered;
  key_class->create_object = create_key;
  key_handlers = std_object_handlers;
  key_handlers.offset = XtOffsetOf(KeyObject, std);
  key_handlers.clone_obj = clone_key;
}

}  // namespace keysieve

ZEND_METHOD(KeySieve_Key, __construct) {
  zend_string* bytes = nullptr;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(bytes)
  ZEND_PARSE_PARAMETERS_END();

  zval* property = OBJ_PROP_NUM(Z_OBJ_P(ZEND_THIS), 0);
  if (Z_TYPE_P(property) != IS_UNDEF) {
    zend_throw_error(nullptr, "Cannot modify readonly property KeySieve\\Key::$bytes");
    RETURN_THROWS();
  }
  ZVAL_STR_COPY(property, bytes);
}
