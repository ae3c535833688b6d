#include "core/builder/snapshot/seal.hpp"

#include <string>

#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {

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
