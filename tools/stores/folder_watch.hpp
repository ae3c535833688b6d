// The watch of the stores that lie in a folder: inotify tells what is written there, by whichever process of
// this host. Of what other hosts write, on a network file system, it tells nothing.
#pragma once

#include <string_view>

#include "core/base/file_descriptor.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

class FolderWatch final : public StoreWatch {
 public:
  // Which files of the folder hold records and logs.
  using IsOfStore = bool (*)(std::string_view file_name);

  // Throws Unavailable, or Permission, "<store>: cannot watch: <reason>".
  FolderWatch(const std::string& folder, std::string store_name, IsOfStore is_of_store);

  // A name that was not armed before counts as changed: what was seen of it may be older than the watch.
  void arm(std::span<const WatchedLog> logs) override;
  [[nodiscard]] std::vector<int> descriptors() const override;
  // All names, or none: which file holds which log or record is not known here. Throws Unavailable when
  // the folder is gone, or is another.
  std::vector<std::string> take() override;

 private:
  bool take_events();

  std::string store_name_;
  IsOfStore is_of_store_;
  FileDescriptor events_;     // inotify
  FileDescriptor new_names_;  // an eventfd
  std::vector<std::string> armed_;
};

}  // namespace keysieve
