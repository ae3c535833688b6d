#include "tools/cli/directory_owner.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "core/base/error.hpp"

namespace keysieve {

uid_t directory_owner(const std::string& directory) {
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) throw_read_error("directory " + directory, errno);
  return status.st_uid;
}

}  // namespace keysieve
