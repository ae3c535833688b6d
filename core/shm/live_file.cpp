#include "core/shm/live_file.hpp"

#include <fcntl.h>

#include "core/base/error.hpp"
#include "core/base/file_descriptor.hpp"

namespace keysieve {

LiveFile LiveFile::open_read_only(const SetFolder& folder, const std::string& file_name,
                                  const PublicationId& id) {
  return {folder, file_name, id, O_RDONLY, MapAccess::ReadOnly};
}

LiveFile LiveFile::open_writable(const SetFolder& folder, const std::string& file_name,
                                 const PublicationId& id) {
  return {folder, file_name, id, O_RDWR, MapAccess::ReadWrite};
}

LiveFile::LiveFile(const SetFolder& folder, const std::string& file_name, const PublicationId& id,
                   int open_flags, MapAccess access) {
  const std::string path = folder.path_of(file_name);
  const FileDescriptor file = folder.open_file(file_name, open_flags);
  const auto size = static_cast<std::size_t>(stat_of(file, path).st_size);
  if (size < sizeof(LivePage))
    throw Error(ErrorKind::Data, path + ": is cut short: " + std::to_string(size) + " bytes");
  region_ = map_region(file, access, size, path);
  check_live_page(page(), size, id, path);
  geometry_ = {page().layer_shard_count};
  lanes_ = reinterpret_cast<LayerLane*>(region_.address() + sizeof(LivePage));
  is_in_memory_ = is_in_memory(file, path);
}

}  // namespace keysieve
