#include "core/builder/filters/filter_kind.hpp"

#include <algorithm>
#include <array>

#include "core/builder/filters/binary_fuse.hpp"
#include "core/builder/filters/blocked_bloom.hpp"
#include "core/builder/filters/bloom.hpp"
#include "core/builder/filters/cuckoo.hpp"
#include "core/builder/filters/partitioned_bloom.hpp"
#include "core/builder/filters/ribbon.hpp"
#include "core/builder/filters/split_block_bloom.hpp"
#include "core/builder/filters/xor.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/filters/kinds.hpp"

namespace keysieve {
namespace {

template <BuildPolicy Builder>
FilterKind kind_of(const LookupKind& lookups) {
  FilterKind kind{lookups};
  kind.summary = Builder::kSummary;
  kind.is_usual = Builder::kIsUsual;
  kind.cache_lines = Builder::cache_lines;
  kind.shard_alignment = Builder::kShardAlignment;
  kind.theoretical_fpr = Builder::theoretical_fpr;
  kind.build = Builder::build;
  kind.value_capacity = Builder::value_capacity;
  kind.build_map = Builder::build_map;
  kind.estimated_fpr = Builder::estimated_fpr;
  return kind;
}

constexpr KindList kBuilders{
    BitBuilder<BloomBuilder>{},
    BitBuilder<PartitionedBloomBuilder>{},
    BitBuilder<BlockedBloomBuilder>{},
    BitBuilder<SplitBlockBloomBuilder>{},
    CuckooBuilder{},
    PeeledBuilder<XorBuilder>{},
    PeeledBuilder<BinaryFuseBuilder>{},
    RibbonBuilder{},
};
static_assert(std::ranges::equal(kBuilders.kIds, kKinds.kIds),
              "every kind of core/worker/filters/kinds.hpp has a builder here");

const auto& kinds() noexcept {
  static const auto all = [next = lookup_kinds().begin()]() mutable {
    return kBuilders.each([&next]<BuildPolicy Builder>() { return kind_of<Builder>(*next++); });
  }();
  return all;
}

template <typename Matches>
const FilterKind* find_kind(Matches matches) noexcept {
  const auto found = std::find_if(kinds().begin(), kinds().end(), matches);
  return found == kinds().end() ? nullptr : &*found;
}

}  // namespace

std::span<const FilterKind> filter_kinds() noexcept {
  return kinds();
}

const FilterKind* find_filter_kind(std::uint8_t id) noexcept {
  return find_kind([id](const FilterKind& kind) { return kind.id == id; });
}

const FilterKind* find_filter_kind(std::string_view name) noexcept {
  return find_kind([name](const FilterKind& kind) { return kind.name == name; });
}

const FilterKind& filter_kind_of(const LookupKind& kind) noexcept {
  return *find_filter_kind(kind.id);  // kBuilders has them all
}

std::string kind_names(const std::function<bool(const FilterKind& kind)>& is_wanted) {
  std::string names;
  for (const FilterKind& kind : kinds()) {
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
