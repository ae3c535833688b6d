#include <algorithm>
#include <array>

#include "core/base/error.hpp"
#include "core/filters/blocked_bloom.hpp"
#include "core/filters/bloom.hpp"
#include "core/filters/filter_kind.hpp"
#include "core/filters/kind_of.hpp"
#include "core/filters/split_block_bloom.hpp"

namespace keysieve {
namespace {

constexpr std::array kKinds{
    kind_of<Bloom>(),
    kind_of<BlockedBloom>(),
    kind_of<SplitBlockBloom>(),
};

template <typename Matches>
const FilterKind* find_kind(Matches matches) noexcept {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(), matches);
  return found == kKinds.end() ? nullptr : &*found;
}

}  // namespace

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
  throw UsageError("filter kind \"" + std::string(name) + "\" is not known; known are " +
                   kind_names([](const FilterKind&) { return true; }));
}

}  // namespace keysieve
