// What PHP needs from the module: its version, its entry and its per-thread globals.
//
// No C++ exception may cross into PHP, so what allocates is noexcept: where malloc fails, the process ends,
// as by PHP's own persistent allocator. Batches ask memory_limit before they allocate (memory_limit.hpp).
//
// PHP ends a script that exceeds memory_limit, or whose client has gone, by a longjmp, which runs no
// destructors. So no object with one lives while PHP is called: it may allocate, log or print. What is made
// for PHP is made in PHP's memory, which the end of the request frees.
#pragma once

// PHP's headers are C and not free of warnings; they are included only here.
#include "ext/zend.hpp"

#include <sys/types.h>

#include <map>
#include <optional>

#include "core/worker/base/version.hpp"

#define PHP_KEYSIEVE_VERSION KEYSIEVE_VERSION

extern zend_module_entry keysieve_module_entry;
#define phpext_keysieve_ptr &keysieve_module_entry

namespace keysieve {
struct SetTables;
}  // namespace keysieve

ZEND_BEGIN_MODULE_GLOBALS(keysieve)
  // INI; see settings.hpp
  bool enabled;
  bool throw_when_unavailable;
  zend_string* directory;
  zend_string* owner;
  std::optional<uid_t> owner_uid;  // of the owner in php.ini, if php-fpm looked it up when it started
  // Created with the globals; see set_table.hpp
  std::map<std::string, keysieve::SetTables>* tables_by_source;
  pid_t process;                // whose calls filled tables_by_source
  keysieve::SetTables* tables;  // for the settings of this request
  std::uint64_t request;        // its number in this thread
  std::uint64_t uses;           // of sets that were not ready: the clock of SetTable
ZEND_END_MODULE_GLOBALS(keysieve)

// Hidden, so that its address need not be looked up; -fvisibility=hidden affects only definitions.
#pragma GCC visibility push(hidden)
ZEND_EXTERN_MODULE_GLOBALS(keysieve)
#pragma GCC visibility pop
#define KEYSIEVE_G(v) ZEND_MODULE_GLOBALS_ACCESSOR(keysieve, v)

#if defined(ZTS) && defined(COMPILE_DL_KEYSIEVE)
ZEND_TSRMLS_CACHE_EXTERN()
#endif
