#include "core/worker/shm/attachment.hpp"

#include <fcntl.h>

#include "core/worker/base/error.hpp"

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

}  // namespace keysieve
