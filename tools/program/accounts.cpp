#include "tools/program/accounts.hpp"

#include <fmt/core.h>
#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <charconv>
#include <system_error>

#include "core/worker/base/error.hpp"

namespace keysieve {

gid_t group_named(const std::string& name) {
  gid_t gid = 0;
  const char* end = name.data() + name.size();
  const auto [last, error] = std::from_chars(name.data(), end, gid);
  if (error == std::errc{} && last == end) return gid;
  errno = 0;
  if (const group* entry = ::getgrnam(name.c_str())) return entry->gr_gid;
  throw Error(ErrorKind::Usage,
              fmt::format("group \"{}\": {}", name,
                          errno == 0 ? "no such group" : std::generic_category().message(errno)));
}

std::string user_name(uid_t uid) {
  const passwd* entry = ::getpwuid(uid);
  return entry == nullptr ? std::to_string(uid) : entry->pw_name;
}

std::string group_name(gid_t gid) {
  const group* entry = ::getgrgid(gid);
  return entry == nullptr ? std::to_string(gid) : entry->gr_name;
}

}  // namespace keysieve
