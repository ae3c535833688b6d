// The watch of the stores in a folder: inotify reports what any process of this host writes there. It does
// not see what other hosts write on a network file system.
#pragma once

#include <string_view>

#include "core/worker/base/file_descriptor.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

class FolderWatch final : public StoreWatch {
 public:
  // Which files of the folder hold records and logs.
  using IsOfStore = bool (*)(std::string_view file_name);

  // Throws Unavailable, or Permission, "<store>: cannot watch: <reason>".
  FolderWatch(const std::string& folder, std::string store_name, IsOfStore is_of_store);

  // A name that was not armed before counts as changed: it may have been read before the watch began.
  void arm(std::span<const WatchedLog> logs) override;
  [[nodiscard]] std::vector<int> descriptors() const override { return {events_.get(), new_names_.get()}; }
  // All names or none: the watch does not know which file holds which log or record. Throws Unavailable
  // when the folder is gone or was replaced.
  std::vector<std::string> take() override;

 private:
  bool take_events();

  std::string store_name_;
  IsOfStore is_of_store_;
  FileDescriptor events_;           // inotify
  FileDescriptor new_names_;        // an eventfd
  std::vector<std::string> armed_;  // sorted
};

}  // namespace keysieve
