#include "tools/stores/store_file.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "core/worker/base/error.hpp"
#include "tools/program/durable_file.hpp"

namespace keysieve {
namespace {

// In a folder that hands on its group (S_ISGID), the umask does not decide whether that group, such as a web
// server's, can read a new one.
void share_as_around(const std::string& path) {
  const FileDescriptor folder = open_store_file(path, O_RDONLY | O_DIRECTORY);
  struct stat made {};
  struct stat around {};
  if (::fstat(folder.get(), &made) != 0 || ::stat(folder_of(path).c_str(), &around) != 0) return;
  const mode_t missing = around.st_mode & (S_IRGRP | S_IXGRP) & ~made.st_mode;
  if ((around.st_mode & S_ISGID) != 0 && missing != 0)
    static_cast<void>(::fchmod(folder.get(), (made.st_mode | missing) & 07777));
}

}  // namespace

void throw_store_error(const std::string& what, int error_number) {
  const std::string message = what + ": " + std::generic_category().message(error_number);
  switch (error_number) {
    case EACCES:
    case EPERM:
      throw Error(ErrorKind::Permission, message);
    case ENOSPC:
    case EDQUOT:
    case EROFS:
      throw Error(ErrorKind::CannotCreate, message);
    // Something else is in the place of a file: no outage, the others can be read.
    case EISDIR:
    case ELOOP:
      throw Error(ErrorKind::Data, message);
    case ENXIO:   // a socket, or a FIFO that is opened to write
    case ESPIPE:  // a FIFO that is read
      throw Error(ErrorKind::Data, message + ": not a regular file");
    default:
      throw Error(ErrorKind::Unavailable, message);
  }
}

void throw_too_large(const std::string& store_name, std::string_view key) {
  throw Error(ErrorKind::Data, store_name + ": " + std::string(key) + ": is larger than a record can be");
}

void create_folder(const std::string& path, const std::string& store_name) {
  if (::mkdir(path.c_str(), 0770) == 0) {
    share_as_around(path);
  } else if (errno != EEXIST) {
    throw_store_error(store_name + ": cannot create the folder", errno);
  }
  try {
    sync_folder(folder_of(path));  // also if it was there: its maker may have been killed before
  } catch (const Error& error) {
    throw Error(error.kind(), store_name + ": " + error.what());
  }
}

}  // namespace keysieve
