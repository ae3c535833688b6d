// The INI settings keysieve.*, all PHP_INI_SYSTEM: php.ini and the pools of php-fpm set them, code cannot.
#pragma once

#include <sys/types.h>

#include <optional>

#include "core/shm/set_reader.hpp"
#include "ext/zend.hpp"

namespace keysieve {

// MINIT, MSHUTDOWN and phpinfo().
void register_settings(int type, int module_number);
void unregister_settings(int type, int module_number);
void print_settings(zend_module_entry* module);

// How the sets of this process are read. An owner whose name is not known yet is looked up; one that nobody
// knows gets logged, unless it is the default, and nobody is trusted additionally.
ReaderSettings reader_settings();

}  // namespace keysieve
