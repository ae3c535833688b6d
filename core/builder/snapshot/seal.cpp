#include "core/builder/snapshot/seal.hpp"

#include "core/worker/base/checksum.hpp"

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

}  // namespace keysieve
