// The control page and the live file of a publication, mapped so that their owner can write to them.
#pragma once

#include "core/worker/shm/control_file.hpp"
#include "core/worker/shm/live_file.hpp"

namespace keysieve {

class WritableControlFile : public ControlFile {
 public:
  // Throws as ControlFile::open_read_only().
  explicit WritableControlFile(const SetFolder& folder);

  [[nodiscard]] ControlPage& writable_page() const noexcept {
    return *reinterpret_cast<ControlPage*>(region_.address());
  }
  // Whether the file was removed or replaced and so has lost its name.
  [[nodiscard]] bool is_removed() const noexcept;

  // For lock_page().
  [[nodiscard]] const FileDescriptor& file() const noexcept { return file_; }

 private:
  WritableControlFile(const SetFolder& folder, FileDescriptor file);

  FileDescriptor file_;
};

class WritableLiveFile : public LiveFile {
 public:
  // As LiveFile::open_read_only().
  WritableLiveFile(const SetFolder& folder, const std::string& file_name, const PublicationId& id);

  [[nodiscard]] LivePage& writable_page() const noexcept {
    return *reinterpret_cast<LivePage*>(region_.address());
  }
  [[nodiscard]] LayerLane* writable_lanes() const noexcept { return lanes(); }
  // Waits until all stores are on the disk; in memory there is nothing to wait for. If this fails, a power
  // cut may lose some of them.
  void sync() noexcept {
    if (!is_in_memory_) region_.flush();
  }

 private:
  WritableLiveFile(const FileDescriptor& file, const std::string& path, const PublicationId& id);

  bool is_in_memory_;
};

}  // namespace keysieve
