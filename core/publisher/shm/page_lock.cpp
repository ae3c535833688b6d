#include "core/publisher/shm/page_lock.hpp"

#include <fcntl.h>

#include <cerrno>

#include "core/worker/base/error.hpp"

namespace keysieve {

bool lock_page(const FileDescriptor& page, const std::string& path) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(page.get(), F_OFD_SETLK, &lock) == 0) return true;
  if (errno != EAGAIN) throw_write_error(path + ": cannot lock", errno);
  lock.l_type = F_RDLCK;
  if (::fcntl(page.get(), F_OFD_GETLK, &lock) != 0) throw_write_error(path + ": cannot lock", errno);
  return lock.l_type == F_UNLCK;
}

}  // namespace keysieve
