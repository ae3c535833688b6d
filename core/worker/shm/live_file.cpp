#include "core/worker/shm/live_file.hpp"

#include <string>

#include "core/worker/base/error.hpp"

namespace keysieve {

void check_live_page(const LivePage& page, std::uint64_t file_bytes, const PublicationId& id,
                     std::string_view path) {
  const std::string name(path);
  if (page.magic != kLiveMagic) throw Error(ErrorKind::Data, name + ": is not a keysieve live page");
  if (page.header_checksum != header_checksum(page)) {
    throw Error(ErrorKind::Data, name + ": live page is damaged: its checksum does not match");
  }
  if (page.instance != id.instance || page.publication != id.publication) {
    throw Error(ErrorKind::Data, name + ": live page belongs to another publication");
  }
  const LayerGeometry layer{page.layer_shard_count};
  if (page.layer_shard_bytes != (layer.shard_count == 0 ? 0 : kLayerShardBytes)) {
    throw Error(ErrorKind::Data, name + ": live layer of " + std::to_string(layer.shard_count) +
                                     " shards of " + std::to_string(page.layer_shard_bytes) +
                                     " bytes, a size that is not known");
  }
  const std::uint64_t expected = sizeof(LivePage) + layer.bytes();
  if (file_bytes != expected) {
    throw Error(ErrorKind::Data, name + ": is " + (file_bytes < expected ? "cut short" : "too long") + ": " +
                                     std::to_string(file_bytes) + " bytes instead of " +
                                     std::to_string(expected));
  }
}

}  // namespace keysieve
