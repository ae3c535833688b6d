#include "tools/stores/store_file.hpp"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
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

constexpr std::uint32_t kChangesOfFiles = IN_MODIFY | IN_ATTRIB | IN_MOVED_TO | IN_DELETE;
constexpr std::uint32_t kFolderIsGone = IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT | IN_IGNORED;
// Bytes of one read: room for 16 events with the longest name.
constexpr std::size_t kEventBytes = 16 * (sizeof(inotify_event) + NAME_MAX + 1);

[[noreturn]] void throw_watch_error(const std::string& store_name, int error_number) {
  const std::string message = store_name + ": cannot watch: " + std::generic_category().message(error_number);
  if (error_number == EACCES) throw Error(ErrorKind::Permission, message);
  throw Error(ErrorKind::Unavailable, message);
}

class FolderWatch final : public StoreWatch {
 public:
  FolderWatch(const std::string& folder, std::string store_name, std::string_view file_name)
      : store_name_(std::move(store_name)), file_name_(file_name) {
    if (!events_.is_open()) throw_watch_error(store_name_, errno);
    const std::uint32_t mask = kChangesOfFiles | IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR;
    if (::inotify_add_watch(events_.get(), folder.c_str(), mask) < 0) throw_watch_error(store_name_, errno);
  }

  [[nodiscard]] int descriptor() const override { return events_.get(); }

  // The file does not say what has changed.
  std::vector<std::string> take() override { return std::vector<std::string>(take_events() ? 1 : 0); }

 private:
  bool take_events() {
    alignas(inotify_event) std::array<char, kEventBytes> buffer{};
    bool changed = false;
    for (;;) {
      const ssize_t size = ::read(events_.get(), buffer.data(), buffer.size());
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && errno == EAGAIN) return changed;
      if (size < 0) throw_watch_error(store_name_, errno);
      for (const char* at = buffer.data(); at < buffer.data() + size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(at);
        if ((event->mask & kFolderIsGone) != 0) throw_watch_error(store_name_, ENOENT);
        const bool some_lost = (event->mask & IN_Q_OVERFLOW) != 0;
        if (some_lost || (event->len > 0 && event->name == file_name_)) changed = true;
        at += sizeof(inotify_event) + event->len;
      }
    }
  }

  std::string store_name_;
  std::string_view file_name_;
  FileDescriptor events_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
};

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

std::unique_ptr<StoreWatch> watch_folder(const std::string& folder, const std::string& store_name,
                                         std::string_view file_name) {
  return std::make_unique<FolderWatch>(folder, store_name, file_name);
}

}  // namespace keysieve
