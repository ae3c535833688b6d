// PHP's own headers, in the order they require, for every file of the extension.
#pragma once

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

// C++ headers first: PHP's macros must not affect them.
#include <syslog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "php.h"
// After php.h
#include "SAPI.h"
#include "Zend/zend_closures.h"
#include "Zend/zend_enum.h"
#include "Zend/zend_exceptions.h"
#include "Zend/zend_interfaces.h"
#include "Zend/zend_smart_str.h"
#include "ext/spl/spl_exceptions.h"
#include "ext/standard/info.h"
#include "php_ini.h"
// These headers declare only some of their functions extern "C".
extern "C" {
#include "ext/date/php_date.h"
#include "ext/random/php_random.h"
#include "ext/spl/spl_iterators.h"
}

namespace keysieve {

inline std::string_view view_of(const zend_string* text) noexcept {
  return {ZSTR_VAL(text), ZSTR_LEN(text)};
}

// One text of these parts, in PHP's memory.
inline zend_string* join(std::initializer_list<std::string_view> parts) {
  std::size_t bytes = 0;
  for (const std::string_view part : parts) bytes += part.size();
  zend_string* text = zend_string_alloc(bytes, /*persistent=*/false);
  char* end = ZSTR_VAL(text);
  for (const std::string_view part : parts) end = std::copy(part.begin(), part.end(), end);
  *end = '\0';
  return text;
}

// Writes a line for the operator, and frees it: straight to PHP's error log, or to the SAPI's if none is set.
// Not a PHP warning, which frameworks turn into an exception.
inline void write_error_log(zend_string* line) {
  php_log_err_with_severity(ZSTR_VAL(line), LOG_WARNING);
  zend_string_release(line);
}

}  // namespace keysieve
