// Writing a whole file so that it is there complete or not at all, whatever happens in between.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "core/worker/base/bytes.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/file_descriptor.hpp"

namespace keysieve {

class MappedRegion;

// What a new file may take the place of: anything, even a device or a pipe (as root, /dev/null too).
enum class Replaces { Anything, Files, Nothing };

// How a new file is made, and how a failure is thrown.
struct FileStyle {
  mode_t mode = 0640;                                                             // less the umask
  void (*made)(const FileDescriptor& file, const std::string& folder) = nullptr;  // called with it
  void (*fail)(const std::string& what, int error_number) = throw_write_error;
  Replaces replaces = Replaces::Files;
};

// A file in the making: without a name as far as the file system has such files, else next to its path under
// a temporary name; gone again unless it is committed. All throw CannotCreate or Permission that names the
// file, or as the style says; an older file is untouched until commit().
class DurableFile {
 public:
  explicit DurableFile(std::string path, const FileStyle& style = {});
  DurableFile(DurableFile&& other) noexcept;
  DurableFile& operator=(DurableFile&&) = delete;
  ~DurableFile();

  // Behind what was written so far.
  void append(Bytes bytes);
  // Several threads may write at once.
  void write_at(std::uint64_t offset, Bytes bytes);
  // What was written, read-only.
  [[nodiscard]] MappedRegion map() const;
  void sync() const;
  // Gives it its temporary name and closes the descriptor, so that many may be in the making at once, and
  // that move() needs no more room.
  void close();
  // Gives it its path. Once. The name survives a power loss only after sync_folder(). If it replaces nothing
  // and there is something, fails with EEXIST.
  void move();
  // All of that. The file stays open.
  void commit();
  // After that: the file.
  FileDescriptor take() noexcept { return std::move(file_); }

 private:
  void link_as(const std::string& name);
  void give_name();

  std::string path_;
  FileStyle style_;
  std::string temporary_;
  bool has_name_ = false;  // the temporary one
  FileDescriptor file_;
};

// Removes files in the making, and what killed processes have left of some, that are so old. Those that
// cannot be removed now stay.
void remove_unfinished(const std::string& folder, std::chrono::seconds age) noexcept;

void write_durable_file(const std::string& path, Bytes bytes);

// What is in the file now survives a power loss, its name only after sync_folder(). Throws CannotCreate.
void sync_file(const FileDescriptor& file, const std::string& path);
// The names in a folder, as they are now, survive a power loss: a file that is made, renamed or removed needs
// it. Does nothing for a folder that this process may not read, or whose file system syncs no folders. Throws
// CannotCreate that names the folder.
void sync_folder(const std::string& folder);
std::string folder_of(const std::string& path);

}  // namespace keysieve
