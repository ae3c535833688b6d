#include "ext/asked_set.hpp"

#include "ext/classes.hpp"

namespace keysieve {

AskedSet* construct_asked(zval* object, zend_string* name, zend_string* key_profile) {
  AskedSet* asked = SetObject::construct(object, name);
  if (asked == nullptr) return nullptr;
  asked->terms.key_profile = key_profile;
  zval* profile_property = OBJ_PROP_NUM(Z_OBJ_P(object), 1);
  if (key_profile == nullptr) {
    ZVAL_NULL(profile_property);
  } else {
    ZVAL_STR_COPY(profile_property, key_profile);
  }
  return asked;
}

void return_availability(INTERNAL_FUNCTION_PARAMETERS) {
  ZEND_PARSE_PARAMETERS_NONE();

  AskedSet* asked = SetObject::constructed(ZEND_THIS);
  if (asked == nullptr) RETURN_THROWS();
  RETURN_OBJ_COPY(availability_case(asked->set->state(asked->terms)));
}

void return_info(INTERNAL_FUNCTION_PARAMETERS) {
  ZEND_PARSE_PARAMETERS_NONE();

  AskedSet* asked = SetObject::constructed(ZEND_THIS);
  if (asked == nullptr) RETURN_THROWS();
  if (asked->set->state({}) == SetState::Disabled) RETURN_NULL();
  const SetReader& reader = asked->set->reader();
  if (reader.attachment() == nullptr) RETURN_NULL();
  make_info(return_value, reader, asked->set->trouble(asked->terms));
}

}  // namespace keysieve
