#include "core/worker/shm/control_file.hpp"

#include <fcntl.h>

#include <cerrno>
#include <string>

#include "core/worker/base/error.hpp"
#include "core/worker/shm/mapped_page.hpp"

namespace keysieve {

void check_control_page(const ControlPage& page, std::string_view path) {
  check_page(page, sizeof page, kControlMagic, kControlAbiMajor, std::string(path), "control page");
}

ControlFile ControlFile::open_read_only(const SetFolder& folder) {
  return {folder, folder.open_file(kControlName, O_RDONLY), MapAccess::ReadOnly};
}

ControlFile::ControlFile(const SetFolder& folder, const FileDescriptor& file, MapAccess access) {
  const std::string path = folder.path_of(kControlName);
  const auto status = stat_of(file, path);
  if (status.st_size != static_cast<off_t>(kPageBytes)) {
    throw Error(ErrorKind::Data,
                path + ": has " + std::to_string(status.st_size) + " bytes, a control page has 4096");
  }
  region_ = map_region(file, access, path);
  check_control_page(page(), path);
  identity_ = identity_of(status);
}

ControlFile::Found ControlFile::found_at(const std::string& path) const {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    const bool is_this = identity_of(status) == identity_ && region_.shows_its_path();
    return is_this ? Found::This : Found::Another;
  }
  if (errno == ENOENT || errno == ENOTDIR) return Found::None;
  throw_read_error(path, errno);
}

}  // namespace keysieve
