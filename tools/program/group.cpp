#include "tools/program/group.hpp"

#include <fmt/format.h>
#include <grp.h>

#include <cerrno>
#include <system_error>

#include "core/base/error.hpp"

namespace keysieve {

gid_t group_named(const std::string& name) {
  errno = 0;
  if (const group* entry = ::getgrnam(name.c_str())) return entry->gr_gid;
  throw UsageError(fmt::format("group \"{}\": {}", name,
                               errno == 0 ? "no such group" : std::generic_category().message(errno)));
}

}  // namespace keysieve
