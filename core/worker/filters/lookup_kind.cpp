#include "core/worker/filters/lookup_kind.hpp"

#include <algorithm>
#include <array>

#include "core/worker/filters/binary_fuse.hpp"
#include "core/worker/filters/blocked_bloom.hpp"
#include "core/worker/filters/bloom.hpp"
#include "core/worker/filters/cuckoo.hpp"
#include "core/worker/filters/partitioned_bloom.hpp"
#include "core/worker/filters/ribbon.hpp"
#include "core/worker/filters/split_block_bloom.hpp"
#include "core/worker/filters/xor.hpp"

namespace keysieve {
namespace {

constexpr std::array kLookupKinds{
    lookup_kind_of<BitKind<Bloom>>(),
    lookup_kind_of<BitKind<PartitionedBloom>>(),
    lookup_kind_of<BitKind<BlockedBloom>>(),
    lookup_kind_of<BitKind<SplitBlockBloom>>(),
    lookup_kind_of<Cuckoo>(),
    lookup_kind_of<PeeledKind<Xor>>(),
    lookup_kind_of<PeeledKind<BinaryFuse>>(),
    lookup_kind_of<Ribbon>(),
};

}  // namespace

bool LookupKind::takes_hash_count(std::uint8_t hash_count) const noexcept {
  const auto counts = hash_counts();
  return std::find(counts.begin(), counts.end(), hash_count) != counts.end();
}

const LookupKind* find_lookup_kind(std::uint8_t id) noexcept {
  const auto found = std::find_if(kLookupKinds.begin(), kLookupKinds.end(),
                                  [id](const LookupKind& kind) { return kind.id == id; });
  return found == kLookupKinds.end() ? nullptr : &*found;
}

}  // namespace keysieve
