// The folder of one set as its publisher uses it: makes the folder, and creates, names and removes files in
// it. Not compiled into the PHP extension, which only reads; older musl lacks renameat2.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/worker/shm/set_folder.hpp"

namespace keysieve {

class PublisherFolder : public SetFolder {
 public:
  // Opens the folder of any owner, but not one that is writable by group or others. Creates it (mode 2750,
  // group `group`) if it is missing; then the directory must belong to root or the effective uid, since
  // its owner could not publish in a folder of ours. Throws CannotCreate, Permission, NotTrusted,
  // MissingInput.
  static PublisherFolder open_or_create(const std::string& directory, std::string_view set_name,
                                        std::optional<gid_t> group);

  // Creates a file that must not exist, with exactly this mode and the folder's group.
  [[nodiscard]] FileDescriptor create_file(const std::string& file_name, mode_t mode) const;
  // Gives a finished file its final name, which must be free.
  void rename_file(const std::string& from, const std::string& to) const;
  // The same, but there may be a file of that name: a process that opens it gets the old one or the new one.
  void replace_file(const std::string& from, const std::string& to) const;
  // Does nothing if the file is not there.
  void remove_file(const std::string& file_name) const;
  [[nodiscard]] std::vector<std::string> file_names() const;

 private:
  using SetFolder::SetFolder;
};

}  // namespace keysieve
