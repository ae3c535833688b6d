#include "core/builder/snapshot/seal.hpp"

#include "core/worker/base/checksum.hpp"

namespace keysieve {

void seal_front(MutableBytes front, SnapshotHeader header, const Signer* signer) {
  header.tables_checksum = checksum(front.subspan(kPageBytes));
  if (signer != nullptr) {
    header.public_key = signer->public_key();
    header.signature = signer->sign(signed_bytes(header));
  }
  header.header_checksum = header_checksum(header);
  store(front.data(), header);
}

}  // namespace keysieve
