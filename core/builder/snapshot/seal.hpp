// Everything that follows from the shards of a snapshot once they are filled: checksums and signature. The
// last step of making one.
#pragma once

#include <cstdint>

#include "core/builder/snapshot/signer.hpp"
#include "core/worker/snapshot/layout.hpp"

namespace keysieve {

// Completes the header, which has everything but checksums and signature, and writes it. `front` is the
// snapshot up to its shards, whose checksum table and digests are complete. `signer`: nullptr exactly if the
// header has no place for digests.
void seal_front(MutableBytes front, SnapshotHeader header, const Signer* signer = nullptr);

// Writes checksum and digest of a stretch, whose bytes are given, into the tables of `front`.
void seal_stretch(MutableBytes front, const SnapshotLayout& layout, std::uint64_t index, Bytes stretch,
                  const Signer* signer);

}  // namespace keysieve
