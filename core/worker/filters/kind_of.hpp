// Makes a kind's table of lookups from a struct of stateless static functions. What all kinds share (which
// shard, its address, prefetching a batch, a copy for each instruction set) is written here once.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>

#include "core/worker/filters/retrieval.hpp"

namespace keysieve {

// Keys in flight between prefetch and probe. The lines of 32 keys fit any first-level cache, and the 20 keys
// of a page need one round.
inline constexpr std::size_t kBatch = 32;

// A shard table of up to 32 KiB stays in the nearest caches without prefetching.
inline constexpr std::uint32_t kCachedEntries = 4096;

// Sets of at most this size are assumed to be in the second-level cache, where prefetching only costs.
inline constexpr std::uint64_t kCachedBytes = std::uint64_t{512} << 10;

// Inlined into functions of every instruction set, so that the probe can be inlined into them as well. Its
// prefetch() must be always_inline: gcc 12 assumes that a call to it has no effect, and drops it.
template <typename Probe>
[[gnu::always_inline]] inline bool look_up(const ShardArray& array, KeyHash hash) noexcept {
  Probe probe;
  probe.prepare(array, hash);
  return probe.may_contain(array, hash);
}

template <typename Probe>
void prefetch_one(const ShardArray& array, KeyHash hash) noexcept {
  if constexpr (requires { Probe::kReadsEntry; }) {
    if (array.shard_count > kCachedEntries) return __builtin_prefetch(array.entries + array.index_of(hash));
  }
  Probe probe;
  probe.prepare(array, hash);
  if constexpr (requires { probe.prefetch(array, hash); }) probe.prefetch(array, hash);
}

// Looks at the second level only if the filter says maybe, as it seldom does for an absent key.
template <typename Probe>
[[gnu::always_inline]] inline bool look_up_both(const ShardArray& array, KeyHash hash) noexcept {
  if (!look_up<Probe>(array, hash)) return false;
  RetrievalProbe probe;
  probe.prepare(array, hash);
  return probe.bit();
}

// Turns the maybe of those keys whose bit is 0 into absent. At most kBatch hashes.
[[gnu::always_inline]] inline void look_up_bits(const ShardArray& array, std::span<const KeyHash> hashes,
                                                bool* results) noexcept {
  std::array<RetrievalProbe, kBatch> probes;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (!results[i]) continue;
    probes[i].prepare(array, hashes[i]);
    probes[i].prefetch();
  }
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (results[i]) results[i] = probes[i].bit();
  }
}

template <typename Probe, bool kHasRetrieval>
[[gnu::always_inline]] inline void look_up_many(const ShardArray& array, std::span<const KeyHash> hashes,
                                                bool* results) noexcept {
  if (array.bytes() <= kCachedBytes) {
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      results[i] = kHasRetrieval ? look_up_both<Probe>(array, hashes[i]) : look_up<Probe>(array, hashes[i]);
    }
    return;
  }
  while (!hashes.empty()) {
    const auto batch = hashes.first(std::min(hashes.size(), kBatch));
    std::array<Probe, kBatch> probes;
    if constexpr (requires { Probe::kReadsEntry; }) {
      if (array.shard_count > kCachedEntries) {
        for (const KeyHash& hash : batch) {
          __builtin_prefetch(array.entries + array.index_of(hash));
        }
      }
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      probes[i].prepare(array, batch[i]);
      if constexpr (requires { probes[i].prefetch(array, batch[i]); }) probes[i].prefetch(array, batch[i]);
    }
    for (std::size_t i = 0; i < batch.size(); ++i) results[i] = probes[i].may_contain(array, batch[i]);
    if constexpr (kHasRetrieval) look_up_bits(array, batch, results);
    results += batch.size();
    hashes = hashes.subspan(batch.size());
  }
}

// As look_up_both(), for the probe of a map.
template <typename Probe, bool kHasRetrieval>
[[gnu::always_inline]] inline MapAnswer find_one(const ShardArray& array, KeyHash hash) noexcept {
  Probe probe;
  probe.prepare(array, hash);
  const MapAnswer answer = probe.find(array);
  if (!kHasRetrieval || answer == kAbsent) return answer;
  RetrievalProbe second;
  second.prepare(array, hash);
  return second.bit() ? answer : kAbsent;
}

// As look_up_many(). A map's key reads several cache lines of its shard, so they are always prefetched.
template <typename Probe, bool kHasRetrieval>
[[gnu::always_inline]] inline void find_many(const ShardArray& array, std::span<const KeyHash> hashes,
                                             MapAnswer* results) noexcept {
  while (!hashes.empty()) {
    const auto batch = hashes.first(std::min(hashes.size(), kBatch));
    std::array<Probe, kBatch> probes;
    if (array.shard_count > kCachedEntries) {
      for (const KeyHash& hash : batch) __builtin_prefetch(array.entries + array.index_of(hash));
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      probes[i].prepare(array, batch[i]);
      probes[i].prefetch(array, batch[i]);
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      results[i] = probes[i].find(array);
      if (!kHasRetrieval || results[i] == kAbsent) continue;
      RetrievalProbe second;
      second.prepare(array, batch[i]);
      if (!second.bit()) results[i] = kAbsent;
    }
    results += batch.size();
    hashes = hashes.subspan(batch.size());
  }
}

// For the instructions that every processor of the architecture has.
template <typename Probe, bool kHasRetrieval>
struct BaselineFunctions {
  static bool may_contain(const ShardArray& array, KeyHash hash) noexcept {
    return kHasRetrieval ? look_up_both<Probe>(array, hash) : look_up<Probe>(array, hash);
  }
  static void may_contain_many(const ShardArray& array, std::span<const KeyHash> hashes,
                               bool* results) noexcept {
    look_up_many<Probe, kHasRetrieval>(array, hashes, results);
  }
  static MapAnswer find(const ShardArray& array, KeyHash hash) noexcept {
    return find_one<Probe, kHasRetrieval>(array, hash);
  }
  static void find_many(const ShardArray& array, std::span<const KeyHash> hashes,
                        MapAnswer* results) noexcept {
    keysieve::find_many<Probe, kHasRetrieval>(array, hashes, results);
  }
};

#if KEYSIEVE_X86_64
template <typename Probe, bool kHasRetrieval>
struct Avx2Functions {
  KEYSIEVE_AVX2 [[gnu::flatten]] static bool may_contain(const ShardArray& array, KeyHash hash) noexcept {
    return kHasRetrieval ? look_up_both<Probe>(array, hash) : look_up<Probe>(array, hash);
  }
  KEYSIEVE_AVX2 [[gnu::flatten]] static void may_contain_many(const ShardArray& array,
                                                              std::span<const KeyHash> hashes,
                                                              bool* results) noexcept {
    look_up_many<Probe, kHasRetrieval>(array, hashes, results);
  }
  KEYSIEVE_AVX2 [[gnu::flatten]] static MapAnswer find(const ShardArray& array, KeyHash hash) noexcept {
    return find_one<Probe, kHasRetrieval>(array, hash);
  }
  KEYSIEVE_AVX2 [[gnu::flatten]] static void find_many(const ShardArray& array,
                                                       std::span<const KeyHash> hashes,
                                                       MapAnswer* results) noexcept {
    keysieve::find_many<Probe, kHasRetrieval>(array, hashes, results);
  }
};
#endif

// The lookups of sets with such parameters. A set without known-absent keys has functions of its own, which
// know nothing of a second level.
template <template <typename, bool> typename Functions, typename Probe>
constexpr Lookup lookup_of(const FilterParams& params) noexcept {
  if (params.retrieval_bytes != 0) {
    return {Functions<Probe, true>::may_contain, Functions<Probe, true>::may_contain_many,
            prefetch_one<Probe>};
  }
  return {Functions<Probe, false>::may_contain, Functions<Probe, false>::may_contain_many,
          prefetch_one<Probe>};
}

// The lookup of a map, which also finds values.
template <template <typename, bool> typename Functions, typename Probe>
constexpr Lookup map_lookup_of(const FilterParams& params) noexcept {
  Lookup lookup = lookup_of<Functions, Probe>(params);
  const bool has_retrieval = params.retrieval_bytes != 0;
  lookup.find = has_retrieval ? Functions<Probe, true>::find : Functions<Probe, false>::find;
  lookup.find_many = has_retrieval ? Functions<Probe, true>::find_many : Functions<Probe, false>::find_many;
  return lookup;
}

template <std::uint8_t... Numbers>
inline constexpr std::array<std::uint8_t, sizeof...(Numbers)> kHashCounts{Numbers...};

// All numbers from kFirst to kLast.
template <std::uint8_t kFirst, std::uint8_t kLast>
inline constexpr auto kHashCountsFrom = [] {
  std::array<std::uint8_t, std::size_t{kLast} - kFirst + 1> counts{};
  std::iota(counts.begin(), counts.end(), kFirst);
  return counts;
}();

template <typename Kind>
constexpr LookupKind lookup_kind_of() {
  constexpr bool kCanHaveValues = requires {
    Kind::kCanHaveValues;
  };
  LookupKind kind{Kind::kId,      Kind::kName, kCanHaveValues, Kind::hash_counts,
                  Kind::fault_of, nullptr,     Kind::lookup};
  if constexpr (requires { &Kind::fill_ratio; }) kind.fill_ratio = Kind::fill_ratio;
  return kind;
}

}  // namespace keysieve
