// Writing a whole file so that it is there complete or not at all, whatever happens in between.
#pragma once

#include <functional>
#include <string>

#include "core/worker/base/bytes.hpp"
#include "core/worker/base/file_descriptor.hpp"

namespace keysieve {

class MappedRegion;

// A file in the making: without a name as far as the file system has such files, else next to its path under
// a temporary name; gone again unless it is committed. Mode 0640 less the umask. All throw CannotCreate or
// Permission that names the file; an older file is untouched until commit().
class DurableFile {
 public:
  explicit DurableFile(std::string path);
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;
  ~DurableFile();

  // Behind what was written so far.
  void append(Bytes bytes);
  // Several threads may write at once.
  void write_at(std::uint64_t offset, Bytes bytes);
  // What was written, read-only.
  [[nodiscard]] MappedRegion map() const;
  // Syncs, and renames over the path. Once.
  void commit();

 private:
  std::string path_;
  std::string temporary_;
  bool has_name_ = false;  // the temporary one
  FileDescriptor file_;
};

void write_durable_file(const std::string& path, Bytes bytes);

// What is in the file now survives a power loss, its name only after sync_folder(). Throws CannotCreate.
void sync_file(const FileDescriptor& file, const std::string& path);
// The names in a folder, as they are now, survive a power loss: a file that is made, renamed or removed needs
// it. Does nothing for a folder that this process may not read, or whose file system syncs no folders. Throws
// CannotCreate that names the folder.
void sync_folder(const std::string& folder);
std::string folder_of(const std::string& path);

// Writes a durable file in parts, which need not be in memory together: `write` hands them over in order.
// What it throws is passed on, and leaves nothing behind either.
using WritePart = std::function<void(Bytes part)>;
void write_durable_file(const std::string& path, const std::function<void(const WritePart&)>& write);

}  // namespace keysieve
