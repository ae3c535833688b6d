// The INI settings keysieve.*, all PHP_INI_SYSTEM: php.ini and the pools of php-fpm set them, code cannot.
#pragma once

#include <sys/types.h>

#include <compare>
#include <optional>
#include <string>
#include <tuple>

#include "core/worker/shm/set_reader.hpp"
#include "ext/zend.hpp"

namespace keysieve {

// Called from MINIT, MSHUTDOWN and phpinfo().
void register_settings(int type, int module_number);
void unregister_settings(int type, int module_number);
void print_settings(zend_module_entry* module);

// keysieve.directory and keysieve.owner: where sets come from, and whose files are trusted. PHP may change
// them between two requests (PHP_ADMIN_VALUE, and [HOST=] and [PATH=] in php.ini), never within one.
struct SetSource {
  std::string directory;
  std::string owner;
  std::optional<uid_t> owner_uid;  // set after the lookup

  // The name decides the uid, so it need not be compared.
  friend auto operator<=>(const SetSource& one, const SetSource& other) {
    return std::tie(one.directory, one.owner) <=> std::tie(other.directory, other.owner);
  }
};

SetSource current_source();

// Looks the owner up if that has not been done. An unknown one is logged, unless it is the default.
void look_up_owner(SetSource& source) noexcept;
// How to read the sets of a source. If the owner is unknown, only root and PHP's own user are trusted.
ReaderSettings reader_settings(const SetSource& source);

}  // namespace keysieve
