// Everything that follows from the shards of a snapshot once they are filled: estimated FPR and checksums.
// The last step of making or changing one. Used by builder and editor.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/filters/filter_kind.hpp"
#include "core/snapshot/layout.hpp"

namespace keysieve {

// `snapshot` holds shards and shard table, `header` everything but estimated FPR and checksums. Completes the
// header, and writes it and the checksum table. Reads all bytes twice.
void seal(MutableBytes snapshot, const FilterKind& kind, SnapshotHeader header);

// The last part of that, for when estimated FPR and checksum table are known already. `front` is the snapshot
// up to its shards.
void seal_front(MutableBytes front, SnapshotHeader header);

// Throws Data when a shard cannot count that many keys.
void check_not_overfull(std::string_view set_name, std::uint64_t shard, std::uint64_t keys);

}  // namespace keysieve
