// Everything that follows from the shards of a snapshot once they are filled: estimated FPR, checksums and
// signature. The last step of making or changing one. Used by builder and editor.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/builder/filters/filter_kind.hpp"
#include "core/builder/snapshot/signer.hpp"
#include "core/worker/snapshot/layout.hpp"

namespace keysieve {

// `snapshot` holds shards and shard table, `header` everything but estimated FPR, checksums and signature.
// Completes the header, and writes it, the checksum table and the digests. Reads all bytes twice. `signer`:
// nullptr exactly if the header has no place for digests.
void seal(MutableBytes snapshot, const FilterKind& kind, SnapshotHeader header,
          const Signer* signer = nullptr);

// The last part of that, for when estimated FPR, checksum table and digests are known already. `front` is the
// snapshot up to its shards.
void seal_front(MutableBytes front, SnapshotHeader header, const Signer* signer = nullptr);

// Writes checksum and digest of a stretch, whose bytes are given, into the tables of `front`.
void seal_stretch(MutableBytes front, const SnapshotLayout& layout, std::uint64_t index, Bytes stretch,
                  const Signer* signer);

// Throws Data when a shard cannot count that many keys.
void check_not_overfull(std::string_view set_name, std::uint64_t shard, std::uint64_t keys);

}  // namespace keysieve
