#include "ext/properties.hpp"

namespace keysieve {
namespace {

zend_object_handlers facts_handlers;

zend_object* create_facts(zend_class_entry* of_class) {
  zend_object* object = zend_objects_new(of_class);
  object_properties_init(object, of_class);
  object->handlers = &facts_handlers;
  return object;
}

}  // namespace

void prepare_facts_class(zend_class_entry* registered) {
  registered->create_object = create_facts;
  facts_handlers = std_object_handlers;
  facts_handlers.clone_obj = nullptr;
}

Properties::Properties(zval* result, zend_class_entry* of_class) {
  object_init_ex(result, of_class);
  object_ = Z_OBJ_P(result);
}

void Properties::set(std::string_view name, std::uint64_t number) {
  zval value;
  ZVAL_LONG(&value, static_cast<zend_long>(number));
  set(name, &value);
}

void Properties::set(std::string_view name, double number) {
  zval value;
  ZVAL_DOUBLE(&value, number);
  set(name, &value);
}

void Properties::set(std::string_view name, std::optional<double> number) {
  if (number) return set(name, *number);
  set_null(name);
}

void Properties::set(std::string_view name, std::string_view text) {
  zval value;
  ZVAL_STRINGL(&value, text.data(), text.size());
  set(name, &value);
  zval_ptr_dtor(&value);
}

void Properties::set_text_or_null(std::string_view name, std::string_view text) {
  if (!text.empty()) return set(name, text);
  set_null(name);
}

void Properties::set_moment(std::string_view name, UnixSeconds moment) {
  zval value;
  php_date_instantiate(php_date_get_immutable_ce(), &value);
  const std::string text = "@" + std::to_string(moment);
  php_date_initialize(Z_PHPDATE_P(&value), text.data(), text.size(), nullptr, nullptr, 0);
  set(name, &value);
  zval_ptr_dtor(&value);
}

void Properties::set_moment_or_null(std::string_view name, UnixSeconds moment) {
  if (moment != 0) return set_moment(name, moment);
  set_null(name);
}

void Properties::set_null(std::string_view name) {
  zval value;
  ZVAL_NULL(&value);
  set(name, &value);
}

void Properties::set(std::string_view name, zval* value) {
  zend_update_property(object_->ce, object_, name.data(), name.size(), value);
}

}  // namespace keysieve
