#include "ext/properties.hpp"

#include <charconv>

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
  set(name, join({text}));
}

void Properties::set(std::string_view name, zend_string* text) {
  if (text == nullptr) return set_null(name);
  zval value;
  ZVAL_STR(&value, text);
  set(name, &value);
  zval_ptr_dtor(&value);
}

void Properties::set_moment(std::string_view name, UnixSeconds moment) {
  zval value;
  php_date_instantiate(php_date_get_immutable_ce(), &value);
  std::array<char, 1 + MAX_LENGTH_OF_LONG> text{'@'};
  const char* end = std::to_chars(text.data() + 1, text.data() + text.size(), moment).ptr;
  php_date_initialize(Z_PHPDATE_P(&value), text.data(), static_cast<std::size_t>(end - text.data()), nullptr,
                      nullptr, 0);
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
