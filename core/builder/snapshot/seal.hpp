// The last step of making a snapshot: the header's checksums, and the signature.
#pragma once

#include <cstdint>

#include "core/builder/snapshot/signer.hpp"
#include "core/worker/snapshot/layout.hpp"

namespace keysieve {

// Completes the header, which has everything but checksums, public key and signature, and writes it. `front`
// is the snapshot up to its shards, with complete tables. `signer`: nullptr for an unsigned snapshot; else
// the header has the digest of the contents.
void seal_front(MutableBytes front, SnapshotHeader header, const Signer* signer = nullptr);

}  // namespace keysieve
