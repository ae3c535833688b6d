// The INI settings keysieve.*, all PHP_INI_SYSTEM: php.ini and the pools of php-fpm set them, code cannot.
#pragma once

#include "core/worker/shm/set_reader.hpp"
#include "ext/zend.hpp"

namespace keysieve {

// Called from MINIT, MSHUTDOWN and phpinfo().
void register_settings(int type, int module_number);
void unregister_settings(int type, int module_number);
void print_settings(zend_module_entry* module);

// Reads where sets come from and whose files are trusted: keysieve.directory, and keysieve.owner, which is
// looked up. Logs an unknown one, unless it is the default; then only root and PHP's own user are trusted.
// False if the lookup has failed (a service does not answer, no more files can be opened): read them again.
// PHP may change both between two requests (PHP_ADMIN_VALUE, and [HOST=] and [PATH=] in php.ini), never
// within one.
bool read_settings(ReaderSettings& settings) noexcept;

}  // namespace keysieve
