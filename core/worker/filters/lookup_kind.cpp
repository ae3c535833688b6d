#include "core/worker/filters/lookup_kind.hpp"

#include <algorithm>

#include "core/worker/filters/kinds.hpp"

namespace keysieve {
namespace {

constexpr std::array kLookupKinds = kKinds.each([]<LookupPolicy Policy>() {
  LookupKind kind{.id = Policy::kId,
                  .name = Policy::kName,
                  .hash_counts = Policy::kHashCounts,
                  .fault_of = Policy::fault_of,
                  .lookup = Policy::lookup};
  if constexpr (requires { Policy::kCanHaveValues; }) kind.can_have_values = Policy::kCanHaveValues;
  if constexpr (requires { &Policy::fill_ratio; }) kind.fill_ratio = Policy::fill_ratio;
  return kind;
});

}  // namespace

bool LookupKind::takes_hash_count(std::uint8_t hash_count) const noexcept {
  return std::find(hash_counts.begin(), hash_counts.end(), hash_count) != hash_counts.end();
}

std::span<const LookupKind> lookup_kinds() noexcept {
  return kLookupKinds;
}

const LookupKind* find_lookup_kind(std::uint8_t id) noexcept {
  const auto* const found = std::find_if(kLookupKinds.begin(), kLookupKinds.end(),
                                         [id](const LookupKind& kind) { return kind.id == id; });
  return found == kLookupKinds.end() ? nullptr : found;
}

}  // namespace keysieve
