/* The least that a call from PHP into an extension costs, which hot.php subtracts. Built by the part `php` of tools/workshop/bench/run. */
#include "php.h"

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(one_arguments, 0, 1, _IS_BOOL, 0)
  ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(many_arguments, 0, 1, IS_ARRAY, 0)
  ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

/* Takes a string and looks at nothing. */
ZEND_METHOD(Floor, one) {
  zend_string *key;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(key)
  ZEND_PARSE_PARAMETERS_END();
  RETURN_FALSE;
}

/* Takes an array, looks at no element, returns as many bools. */
ZEND_METHOD(Floor, many) {
  HashTable *keys;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ARRAY_HT(keys)
  ZEND_PARSE_PARAMETERS_END();
  uint32_t count = zend_hash_num_elements(keys);
  array_init_size(return_value, count);
  zend_hash_real_init_packed(Z_ARRVAL_P(return_value));
  ZEND_HASH_FILL_PACKED(Z_ARRVAL_P(return_value)) {
    for (uint32_t i = 0; i < count; ++i) {
      ZVAL_FALSE(__fill_val);
      ZEND_HASH_FILL_NEXT();
    }
  }
  ZEND_HASH_FILL_END();
}

static const zend_function_entry floor_methods[] = {
  ZEND_ME(Floor, one, one_arguments, ZEND_ACC_PUBLIC)
  ZEND_ME(Floor, many, many_arguments, ZEND_ACC_PUBLIC)
  ZEND_FE_END
};

static PHP_MINIT_FUNCTION(floor) {
  zend_class_entry entry;
  INIT_CLASS_ENTRY(entry, "Floor", floor_methods);
  zend_register_internal_class(&entry)->ce_flags |= ZEND_ACC_FINAL;
  return SUCCESS;
}

static zend_module_entry floor_module_entry = {
  STANDARD_MODULE_HEADER, "floor", NULL, PHP_MINIT(floor), NULL, NULL, NULL, NULL, "0", STANDARD_MODULE_PROPERTIES
};

ZEND_GET_MODULE(floor)
