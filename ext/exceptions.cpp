#include "ext/exceptions.hpp"

namespace keysieve {

zend_class_entry* invalid_name_exception_class = nullptr;
zend_class_entry* unavailable_exception_class = nullptr;

namespace {

// An exception that is constructed twice keeps what it has: its properties are read-only.
void fill_unavailable(zend_object* exception, zend_string* set_name, zend_object* availability,
                      zend_string* message) {
  zend_class_entry* scope = unavailable_exception_class;
  zval value;
  zend_update_property_str(scope, exception, ZEND_STRL("set"), set_name);
  if (EG(exception) != nullptr) return;
  ZVAL_OBJ(&value, availability);
  zend_update_property(scope, exception, ZEND_STRL("availability"), &value);
  zend_update_property_str(zend_ce_exception, exception, ZEND_STRL("message"), message);
}

}  // namespace

void throw_unavailable(std::string_view set_name, SetState state, zend_string* message) {
  zend_string* name = join({set_name});
  zval exception;
  object_init_ex(&exception, unavailable_exception_class);
  fill_unavailable(Z_OBJ(exception), name, availability_case(state), message);
  zend_string_release(name);
  zend_string_release(message);
  zend_throw_exception_object(&exception);
}

void throw_invalid_name(const zend_string* name) {
  zend_argument_error(invalid_name_exception_class, 1, "must be %s, \"%.80s\" given", kSetNameRule,
                      ZSTR_VAL(name));
}

}  // namespace keysieve

ZEND_METHOD(KeySieve_UnavailableException, __construct) {
  zend_string* set = nullptr;
  zend_object* availability = nullptr;
  zend_string* message = zend_empty_string;
  zval* previous = nullptr;
  ZEND_PARSE_PARAMETERS_START(2, 4)
    Z_PARAM_STR(set)
    Z_PARAM_OBJ_OF_CLASS(availability, keysieve::availability_class)
    Z_PARAM_OPTIONAL
    Z_PARAM_STR(message)
    Z_PARAM_OBJECT_OF_CLASS_OR_NULL(previous, zend_ce_throwable)
  ZEND_PARSE_PARAMETERS_END();

  keysieve::fill_unavailable(Z_OBJ_P(ZEND_THIS), set, availability, message);
  if (previous != nullptr && EG(exception) == nullptr) {
    zend_update_property(zend_ce_exception, Z_OBJ_P(ZEND_THIS), ZEND_STRL("previous"), previous);
  }
}
