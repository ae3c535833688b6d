#include "core/shm/attachment.hpp"

#include <fcntl.h>

#include "core/base/error.hpp"

namespace keysieve {
namespace {

MappedRegion map_read_only(const SetFolder& folder, const std::string& name) {
  const std::string path = folder.path_of(name);
  const FileDescriptor file = folder.open_file(name, O_RDONLY);
  const auto size = static_cast<std::size_t>(stat_of(file, path).st_size);
  if (size < kPageBytes) throw DataError(path + ": is cut short: " + std::to_string(size) + " bytes");
  return map_region(file, boost::interprocess::read_only, size, path);
}

}  // namespace

Attachment::Attachment(const SetFolder& folder, std::string_view set_name, const PublicationId& id)
    : Attachment(folder, {snapshot_file_name(id.publication), live_file_name(id.publication)}, set_name, id,
                 Check::Tables) {}

Attachment::Attachment(const SetFolder& folder, const FileNames& files, std::string_view set_name,
                       const PublicationId& id, Check check)
    : id_(id),
      snapshot_region_(map_read_only(folder, files.snapshot)),
      live_(LiveFile::open_read_only(folder, files.live, id)),
      snapshot_(SnapshotView::decode(bytes_of(snapshot_region_), folder.path_of(files.snapshot), check)),
      layer_(live_.layer()) {
  if (snapshot_.set_name() != set_name) {
    throw DataError(folder.path_of(files.snapshot) + ": is of set " + std::string(snapshot_.set_name()));
  }
}

}  // namespace keysieve
