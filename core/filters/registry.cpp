#include <algorithm>
#include <array>

#include "core/base/error.hpp"
#include "core/filters/binary_fuse.hpp"
#include "core/filters/blocked_bloom.hpp"
#include "core/filters/bloom.hpp"
#include "core/filters/cuckoo.hpp"
#include "core/filters/partitioned_bloom.hpp"
#include "core/filters/ribbon.hpp"
#include "core/filters/split_block_bloom.hpp"
#include "core/filters/xor.hpp"

namespace keysieve {
namespace {

constexpr std::array kKinds{
    kind_of<BitKind<Bloom>>(),
    kind_of<BitKind<PartitionedBloom>>(),
    kind_of<BitKind<BlockedBloom>>(),
    kind_of<BitKind<SplitBlockBloom>>(),
    kind_of<Cuckoo>(),
    kind_of<PeeledKind<Xor>>(),
    kind_of<PeeledKind<BinaryFuse>>(),
    kind_of<Ribbon>(),
};

template <typename Matches>
const FilterKind* find_kind(Matches matches) noexcept {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(), matches);
  return found == kKinds.end() ? nullptr : &*found;
}

}  // namespace

bool FilterKind::takes_hash_count(std::uint8_t hash_count) const noexcept {
  const auto counts = hash_counts();
  return std::find(counts.begin(), counts.end(), hash_count) != counts.end();
}

std::span<const FilterKind> filter_kinds() noexcept {
  return kKinds;
}

const FilterKind* find_filter_kind(std::uint8_t id) noexcept {
  return find_kind([id](const FilterKind& kind) { return kind.id == id; });
}

const FilterKind* find_filter_kind(std::string_view name) noexcept {
  return find_kind([name](const FilterKind& kind) { return kind.name == name; });
}

std::string kind_names(bool (*is_wanted)(const FilterKind& kind)) {
  std::string names;
  for (const FilterKind& kind : kKinds) {
    if (is_wanted(kind)) names.append(names.empty() ? "" : ", ").append(kind.name);
  }
  return names.empty() ? "none" : names;
}

const FilterKind& filter_kind_named(std::string_view name) {
  if (const FilterKind* kind = find_filter_kind(name)) return *kind;
  throw Error(ErrorKind::Usage, "filter kind \"" + std::string(name) + "\" is not known; known are " +
                                    kind_names([](const FilterKind&) { return true; }));
}

}  // namespace keysieve
