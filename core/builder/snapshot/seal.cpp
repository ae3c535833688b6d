#include "core/builder/snapshot/seal.hpp"

#include <string>

#include "core/builder/filters/sizing.hpp"
#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

double mean_estimated_fpr(Bytes snapshot, const SnapshotLayout& layout, const FilterKind& kind,
                          const SnapshotHeader& header) {
  const FilterParams params = params_of(header);
  double sum = 0.0;
  for (std::uint64_t i = 0; i < header.shard_count; ++i) {
    const auto entry = load<ShardEntry>(snapshot.data() + layout.shard_table.offset + i * sizeof(ShardEntry));
    const Bytes shard = snapshot.subspan(layout.shards.offset + i * params.stride(), params.shard_bytes);
    sum += kind.estimated_fpr(shard, entry, params);
  }
  const double of_filters = sum / header.shard_count;
  return (params.retrieval_bytes == 0 ? of_filters : of_filters / 2.0) +
         same_hash_fpr(static_cast<double>(header.key_count));
}

}  // namespace

void seal(MutableBytes snapshot, const FilterKind& kind, SnapshotHeader header, const Signer* signer) {
  const SnapshotLayout layout = snapshot_layout(header);
  header.estimated_fpr = mean_estimated_fpr(snapshot, layout, kind, header);
  for (std::uint64_t i = 0; i < layout.stretch_count(); ++i) {
    seal_stretch(snapshot, layout, i, checksum_stretch(snapshot, layout, i), signer);
  }
  seal_front(snapshot.first(layout.shards.offset), header, signer);
}

void seal_stretch(MutableBytes front, const SnapshotLayout& layout, std::uint64_t index, Bytes stretch,
                  const Signer* signer) {
  store(front.data() + layout.checksum_table.offset + index * sizeof(std::uint64_t), checksum(stretch));
  if (signer == nullptr) return;
  store(front.data() + layout.stretch_digests.offset + index * sizeof(Digest), signer->digest(stretch));
}

void seal_front(MutableBytes front, SnapshotHeader header, const Signer* signer) {
  header.tables_checksum = checksum(front.subspan(kPageBytes));
  if (signer != nullptr) {
    header.tables_digest = signer->digest(front.subspan(kPageBytes));
    header.public_key = signer->public_key();
    header.signature = signer->sign(signed_bytes(header));
  }
  header.header_checksum = header_checksum(header);
  store(front.data(), header);
}

void check_not_overfull(std::string_view set_name, std::uint64_t shard, std::uint64_t keys) {
  if (keys <= kMaxKeysPerShard) return;
  throw Error(ErrorKind::Data, "set " + std::string(set_name) + ": shard " + std::to_string(shard) +
                                   " is overfull with " + std::to_string(keys) +
                                   " keys; a shard holds at most 65535");
}

}  // namespace keysieve
