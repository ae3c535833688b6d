#include "core/partition/sort_hashes.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace keysieve {
namespace {

constexpr std::size_t kFewHashes = 24;  // from here on std::sort is faster

void sort_few(KeyHash* begin, KeyHash* end) noexcept {
  for (KeyHash* hash = begin + 1; hash < end; ++hash) {
    const KeyHash taken = *hash;
    KeyHash* place = hash;
    for (; place > begin && in_shard_order(taken, place[-1]); --place) *place = place[-1];
    *place = taken;
  }
}

}  // namespace

std::size_t sort_distinct(std::span<const KeyHash> hashes, const HashRange& range, KeyHash* sorted,
                          std::vector<std::uint32_t>& counts) {
  if (hashes.empty()) return 0;
  const std::uint64_t base = range.first.high;
  const auto bits_of = [](std::uint64_t number) { return static_cast<int>(std::bit_width(number)); };
  const int shift = std::clamp(bits_of(range.last.high - base) - bits_of(hashes.size()) + 1, 0, 63);
  const auto bucket_of = [base, shift](const KeyHash& hash) { return (hash.high - base) >> shift; };

  counts.assign(((range.last.high - base) >> shift) + 1, 0);
  for (const KeyHash& hash : hashes) ++counts[bucket_of(hash)];
  std::uint32_t start = 0;
  for (std::uint32_t& count : counts) start += std::exchange(count, start);
  for (const KeyHash& hash : hashes) sorted[counts[bucket_of(hash)]++] = hash;

  // Each count is now the end of its bucket.
  KeyHash* begin = sorted;
  for (const std::uint32_t count : counts) {
    KeyHash* end = sorted + count;
    if (end - begin > static_cast<std::ptrdiff_t>(kFewHashes)) {
      std::sort(begin, end, in_shard_order);
    } else if (end - begin > 1) {
      sort_few(begin, end);
    }
    begin = end;
  }
  return static_cast<std::size_t>(std::unique(sorted, sorted + hashes.size()) - sorted);
}

}  // namespace keysieve
