#include "tools/program/accounts.hpp"

#include <fmt/core.h>
#include <grp.h>
#include <pwd.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <system_error>

#include "core/worker/base/error.hpp"
#include "tools/program/units.hpp"

namespace keysieve {

gid_t group_named(const std::string& name) {
  if (const auto gid = whole_number(name, UINT32_MAX)) return static_cast<gid_t>(*gid);
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

std::string owner_and_mode(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw_read_error(path, errno);
  return fmt::format("{}: {}:{} {:04o}", path, user_name(status.st_uid), group_name(status.st_gid),
                     status.st_mode & 07777);
}

bool others_may_write(const std::string& folder, const struct stat& status) {
  const bool by_group = (status.st_mode & S_IWGRP) != 0 && status.st_gid != 0;
  if (!by_group && (status.st_mode & S_IWOTH) == 0) return false;
  if ((status.st_mode & S_ISVTX) != 0) return false;
  struct statvfs mounted {};
  return ::statvfs(folder.c_str(), &mounted) != 0 || (mounted.f_flag & ST_RDONLY) == 0;
}

}  // namespace keysieve
