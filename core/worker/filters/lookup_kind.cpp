#include "core/worker/filters/lookup_kind.hpp"

#include <algorithm>

#include "core/worker/filters/kinds.hpp"

namespace keysieve {
namespace {

constexpr std::array kLookupKinds = kKinds.each([]<LookupPolicy Policy>() {
  return LookupKind{.id = Policy::kId,
                    .name = Policy::kName,
                    .hash_counts = Policy::kHashCounts,
                    .fault_of = Policy::fault_of,
                    .fill_ratio = Policy::fill_ratio,
                    .lookup = Policy::lookup};
});

}  // namespace

bool LookupKind::takes_hash_count(std::uint8_t hash_count) const noexcept {
  return std::find(hash_counts.begin(), hash_counts.end(), hash_count) != hash_counts.end();
}

bool LookupKind::can_have_values() const noexcept {
  return lookup({.value_bits = 1}, InstructionSet::Scalar).find != nullptr;
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
