#include "core/publisher/shm/writable_pages.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <utility>

#include "core/builder/base/file_io.hpp"

namespace keysieve {

WritableControlFile::WritableControlFile(const SetFolder& folder)
    : WritableControlFile(folder, folder.open_file(kControlName, O_RDWR)) {}

WritableControlFile::WritableControlFile(const SetFolder& folder, FileDescriptor file)
    : ControlFile(folder, file, MapAccess::ReadWrite), file_(std::move(file)) {}

bool WritableControlFile::is_removed() const noexcept {
  struct stat status {};
  return ::fstat(file_.get(), &status) == 0 && status.st_nlink == 0;
}

WritableLiveFile::WritableLiveFile(const SetFolder& folder, const std::string& file_name,
                                   const PublicationId& id)
    : WritableLiveFile(folder.open_file(file_name, O_RDWR), folder.path_of(file_name), id) {}

WritableLiveFile::WritableLiveFile(const FileDescriptor& file, const std::string& path,
                                   const PublicationId& id)
    : LiveFile(file, path, id, MapAccess::ReadWrite), is_in_memory_(is_in_memory(file, path)) {}

}  // namespace keysieve
