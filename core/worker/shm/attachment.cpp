#include "core/worker/shm/attachment.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>

#include "core/worker/base/error.hpp"

#ifndef MADV_POPULATE_READ  // glibc before 2.35
#define MADV_POPULATE_READ 22
#endif

namespace keysieve {
namespace {

MappedRegion map_read_only(const SetFolder& folder, const std::string& name) {
  return map_region(folder.open_file(name, O_RDONLY), MapAccess::ReadOnly, folder.path_of(name), kPageBytes);
}

}  // namespace

Attachment::Attachment(const SetFolder& folder, std::string_view set_name, const PublicationId& id)
    : Attachment(folder, {snapshot_file_name(id.publication), live_file_name(id.publication)}, set_name, id) {
}

Attachment::Attachment(const SetFolder& folder, const FileNames& files, std::string_view set_name,
                       const PublicationId& id)
    : id_(id),
      snapshot_region_(map_read_only(folder, files.snapshot)),
      live_(open_live_page<const LivePage>(folder, files.live, id)),
      snapshot_(
          SnapshotView::decode(bytes_of(snapshot_region_), folder.path_of(files.snapshot), Check::Tables)),
      layer_(layer_of(live_)) {
  snapshot_.check_set_name(set_name, folder.path_of(files.snapshot));
  if (live_.page().seed == snapshot_.seed()) return;
  throw Error(ErrorKind::Data, folder.path_of(files.live) + ": live page has another seed than its snapshot");
}

// Out of line: a set without added keys must not pay for the layer's code.
bool Attachment::may_contain_with_layer(KeyHash hash) const noexcept {
  return snapshot_.may_contain(hash) || layer_.may_contain(hash);
}

bool Attachment::warm_some(std::size_t bytes) noexcept {
  return advise_next(warm_bytes_, bytes, MADV_POPULATE_READ);
}

bool Attachment::let_go_of_some(std::size_t bytes) noexcept {
  return advise_next(let_go_bytes_, bytes, MADV_DONTNEED);
}

// Counts as done if the kernel does not support the advice (MADV_POPULATE_READ came with Linux 5.14).
bool Attachment::advise_next(std::size_t& done, std::size_t bytes, int advice) const noexcept {
  const std::size_t size = snapshot_region_.size();
  const std::size_t piece = std::min(bytes, size - done);
  const bool advised = ::madvise(snapshot_region_.address() + done, piece, advice) == 0;
  done += piece;
  return !advised || done == size;
}

}  // namespace keysieve
