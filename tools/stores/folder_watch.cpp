// The watch of the stores in folders.
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <system_error>

#include "core/worker/base/error.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "tools/stores/store_file.hpp"

namespace keysieve {
namespace {

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

std::unique_ptr<StoreWatch> watch_folder(const std::string& folder, const std::string& store_name,
                                         std::string_view file_name) {
  return std::make_unique<FolderWatch>(folder, store_name, file_name);
}

}  // namespace keysieve
