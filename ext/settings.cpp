#include "ext/settings.hpp"

#include <pwd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <new>
#include <optional>
#include <vector>

#include "ext/php_keysieve.h"

namespace keysieve {
namespace {

constexpr std::string_view kDefaultOwner = "keysieve";  // the packaged loader's user

int refuse(const zend_ini_entry* entry, const zend_string* value, const char* accepted) {
  zend_error(E_CORE_WARNING, "%s must be %s, not \"%s\"", ZSTR_VAL(entry->name), accepted, ZSTR_VAL(value));
  return FAILURE;
}

bool has_nul(const zend_string* value) {
  return view_of(value).find('\0') != std::string_view::npos;
}

// nullopt: there is no such user or, if `has_failed`, it could not be found out.
std::optional<uid_t> uid_of_name(const char* name, bool& has_failed) {
  // Beside 0, what getpwnam(3) says of a user that there is not; such as a chroot without /etc/passwd.
  constexpr std::array kNoSuchUser{0, ENOENT, ESRCH, EBADF, EPERM};
  std::vector<char> buffer(1024);
  passwd entry{};
  passwd* found = nullptr;
  int error = 0;
  while ((error = ::getpwnam_r(name, &entry, buffer.data(), buffer.size(), &found)) == ERANGE) {
    buffer.resize(2 * buffer.size());
  }
  if (error == ENOMEM) throw std::bad_alloc();  // and so the process ends, as where malloc fails
  if (found != nullptr) return found->pw_uid;
  has_failed = std::find(kNoSuchUser.begin(), kNoSuchUser.end(), error) == kNoSuchUser.end();
  return std::nullopt;
}

// The owner ends with a NUL.
std::optional<uid_t> uid_of(std::string_view owner, bool& has_failed) noexcept {
  if (owner.empty()) return std::nullopt;
  uid_t uid = 0;
  const auto [end, error] = std::from_chars(owner.data(), owner.data() + owner.size(), uid);
  if (error == std::errc() && end == owner.data() + owner.size()) return uid;
  return uid_of_name(owner.data(), has_failed);
}

// A worker of php-fpm may later enter a chroot, where users cannot be looked up, so its master looks the
// owner up. All others do it when a set is asked: the lookup may go over the network, and most processes ask
// no set.
bool must_look_up_early(int stage) {
  return stage == ZEND_INI_STAGE_STARTUP && std::string_view(sapi_module.name) == "fpm-fcgi";
}

ZEND_INI_MH(update_enabled) {
  KEYSIEVE_G(enabled) = zend_ini_parse_bool(new_value);
  return SUCCESS;
}

ZEND_INI_MH(update_directory) {
  if (view_of(new_value).substr(0, 1) != "/" || has_nul(new_value)) {
    return refuse(entry, new_value, "an absolute path");
  }
  KEYSIEVE_G(directory) = new_value;
  return SUCCESS;
}

ZEND_INI_MH(update_owner) {
  if (has_nul(new_value)) return refuse(entry, new_value, "a user name or uid");
  KEYSIEVE_G(owner) = new_value;
  KEYSIEVE_G(owner_uid) = std::nullopt;
  bool has_failed = false;  // then a worker tries again
  if (must_look_up_early(stage)) KEYSIEVE_G(owner_uid) = uid_of(view_of(new_value), has_failed);
  return SUCCESS;
}

ZEND_INI_MH(update_on_unavailable) {
  const std::string_view value = view_of(new_value);
  if (value != "maybe" && value != "throw") return refuse(entry, new_value, "\"maybe\" or \"throw\"");
  KEYSIEVE_G(throw_when_unavailable) = value == "throw";
  return SUCCESS;
}

// The reference of php.ini, for users: each setting has a comment.
PHP_INI_BEGIN()
  // 0: every answer is maybe
  PHP_INI_ENTRY_EX("keysieve.enabled", "1", PHP_INI_SYSTEM, update_enabled, zend_ini_boolean_displayer_cb)
  // where the loader publishes
  PHP_INI_ENTRY("keysieve.directory", "/run/keysieve", PHP_INI_SYSTEM, update_directory)
  // user (name or uid) whose files PHP trusts, besides root and PHP's own user
  PHP_INI_ENTRY("keysieve.owner", "keysieve", PHP_INI_SYSTEM, update_owner)
  // `throw`: `KeySieve\UnavailableException` instead of maybe, unless the set is bypassed or keysieve
  // disabled
  PHP_INI_ENTRY("keysieve.on_unavailable", "maybe", PHP_INI_SYSTEM, update_on_unavailable)
PHP_INI_END()

}  // namespace

void register_settings(int type, int module_number) {
  REGISTER_INI_ENTRIES();
}

void unregister_settings(int type, int module_number) {
  UNREGISTER_INI_ENTRIES();
}

void print_settings(zend_module_entry* module) {
  display_ini_entries(module);
}

bool read_settings(ReaderSettings& settings) noexcept {
  const std::string_view owner = view_of(KEYSIEVE_G(owner));
  bool has_failed = false;
  settings.directory = view_of(KEYSIEVE_G(directory));
  settings.trusted_owner = KEYSIEVE_G(owner_uid) ? KEYSIEVE_G(owner_uid) : uid_of(owner, has_failed);
  if (has_failed || !(settings.trusted_owner || owner.empty() || owner == kDefaultOwner)) {
    write_error_log(join({"keysieve.owner: user \"", owner,
                          has_failed ? "\" could not be looked up" : "\" does not exist",
                          "; only files of root and of PHP's own user are trusted"}));
  }
  return !has_failed;
}

}  // namespace keysieve
