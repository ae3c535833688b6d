#include "core/builder/snapshot/map_values.hpp"

#include <algorithm>
#include <bit>

#include "core/worker/base/error.hpp"

namespace keysieve {

std::optional<MapValues::Conflict> MapValues::finish() {
  std::size_t count = 0;
  for (const Part& part : given_) count += part.entries.size();
  entries_.reserve(count);
  for (Part& part : given_) {
    entries_.insert(entries_.end(), part.entries.begin(), part.entries.end());
    part.entries = {};
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return a.hash.word != b.hash.word ? a.hash.word < b.hash.word : a.value < b.value;
  });
  const auto same_key = [](const Entry& a, const Entry& b) { return a.hash == b.hash; };
  const auto twice = std::adjacent_find(
      entries_.begin(), entries_.end(),
      [&](const Entry& a, const Entry& b) { return same_key(a, b) && a.value != b.value; });
  if (twice != entries_.end()) return Conflict{twice->hash, twice->value, std::next(twice)->value};
  entries_.erase(std::unique(entries_.begin(), entries_.end(), same_key), entries_.end());
  return std::nullopt;
}

std::uint8_t MapValues::value_bits() const noexcept {
  std::uint32_t all = 1;
  for (const Entry& entry : entries_) all |= entry.value;
  return static_cast<std::uint8_t>(std::bit_width(all));
}

void MapValues::take_sample(SnapshotHeader& header) const {
  constexpr std::uint64_t kStretch = UINT64_MAX / kValueSample + 1;
  std::uint32_t& count = header.sampled_count;
  for (const Entry& entry : entries_) {
    if (count != 0 && entry.hash.word / kStretch == header.sampled_hashes[count - 1].word / kStretch)
      continue;
    header.sampled_hashes[count] = entry.hash;
    header.sampled_values[count++] = entry.value;
  }
}

void MapValues::copy(std::span<const KeyHash> hashes, std::vector<std::uint32_t>& values) const {
  values.clear();
  if (hashes.empty()) return;
  auto at = std::lower_bound(entries_.begin(), entries_.end(), hashes.front(),
                             [](const Entry& entry, const KeyHash& hash) { return entry.hash < hash; });
  for (const KeyHash& hash : hashes) {
    while (at != entries_.end() && at->hash < hash) ++at;
    if (at == entries_.end() || at->hash != hash) throw Error(ErrorKind::Usage, "a key has no value");
    values.push_back(at->value);
  }
}

}  // namespace keysieve
