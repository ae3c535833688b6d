// The file that holds the live page of a publication and the live layer behind it, mapped: read-only by
// readers, writable by the loader.
#pragma once

#include "core/base/mapped_region.hpp"
#include "core/shm/live_page.hpp"
#include "core/shm/set_folder.hpp"

namespace keysieve {

class LiveFile {
 public:
  // `file_name` is that of the publication's live file, or a temporary one. Throw MissingInput,
  // Permission, NotTrusted, Data; all name the file.
  static LiveFile open_read_only(const SetFolder& folder, const std::string& file_name,
                                 const PublicationId& id);
  static LiveFile open_writable(const SetFolder& folder, const std::string& file_name,
                                const PublicationId& id);

  [[nodiscard]] const LivePage& page() const noexcept {
    return *reinterpret_cast<const LivePage*>(region_.address());
  }
  [[nodiscard]] LayerGeometry geometry() const noexcept { return geometry_; }
  [[nodiscard]] LiveLayer layer() const noexcept {
    return geometry_.shard_count == 0 ? LiveLayer() : LiveLayer(lanes_, geometry_, &page().live_keys);
  }

  // Only of a writable one.
  [[nodiscard]] LivePage& writable_page() const noexcept {
    return *reinterpret_cast<LivePage*>(region_.address());
  }
  [[nodiscard]] LayerLane* writable_lanes() const noexcept { return lanes_; }
  // Waits until what was stored lies on the disk; in memory there is nothing to wait for. Should it fail, a
  // power cut may take some of it away.
  void sync() noexcept {
    if (!is_in_memory_) region_.flush();
  }

 private:
  LiveFile(const SetFolder& folder, const std::string& file_name, const PublicationId& id, int open_flags,
           MapAccess access);

  MappedRegion region_;
  LayerGeometry geometry_;
  LayerLane* lanes_ = nullptr;
  bool is_in_memory_ = false;
};

}  // namespace keysieve
