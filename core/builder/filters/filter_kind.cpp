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

namespace keysieve {
namespace {

const auto& kinds() noexcept {
  static const std::array all{
      kind_of<BitBuilder<BloomBuilder>>(),
      kind_of<BitBuilder<PartitionedBloomBuilder>>(),
      kind_of<BitBuilder<BlockedBloomBuilder>>(),
      kind_of<BitBuilder<SplitBlockBloomBuilder>>(),
      kind_of<CuckooBuilder>(),
      kind_of<PeeledBuilder<XorBuilder>>(),
      kind_of<PeeledBuilder<BinaryFuseBuilder>>(),
      kind_of<RibbonBuilder>(),
  };
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
  return *find_filter_kind(kind.id);
}

std::string kind_names(bool (*is_wanted)(const FilterKind& kind)) {
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
