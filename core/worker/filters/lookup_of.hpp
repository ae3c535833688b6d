// Makes a kind's lookups from its probe. What all kinds share (which shard, its address, prefetching a batch,
// a copy for each instruction set) is written here once.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>

#include "core/worker/filters/retrieval.hpp"

namespace keysieve {

// Keys in flight between prefetch and probe. The lines of 32 keys fit any first-level cache, and the 20 keys
// of a page need one round.
inline constexpr std::size_t kBatch = 32;

// A shard table of up to 32 KiB stays in the nearest caches without prefetching.
inline constexpr std::uint32_t kCachedEntries = 4096;

// Sets of at most this size are assumed to be in the second-level cache, where prefetching only costs.
inline constexpr std::uint64_t kCachedBytes = std::uint64_t{512} << 10;

// Looks one key up, in two steps, so that a batch can prepare all its keys before it reads a shard.
template <typename Probe>
concept KeyProbe = requires(Probe probe, const ShardArray& array, KeyHash hash) {
  { Probe::kReadsEntry } -> std::convertible_to<bool>;  // whether prepare() reads the shard's entry
  probe.prepare(array, hash);  // says where to look for the key; reads nothing from the shard
  // Begins to load what may_contain() reads, if that pays. Must be always_inline: gcc 12 assumes that a call
  // to it has no effect, and drops it.
  probe.prefetch(array, hash);
  { probe.may_contain(array, hash) } -> std::same_as<bool>;
};

// For maps: find() gives the key's value, or kAbsent.
template <typename Probe>
concept ValueProbe = KeyProbe<Probe> && requires(Probe probe, const ShardArray& array) {
  { probe.find(array) } -> std::same_as<MapAnswer>;
};

// The bit of the second level, which says absent (false) for known-absent keys.
[[gnu::always_inline]] inline bool second_bit(const ShardArray& array, KeyHash hash) noexcept {
  RetrievalProbe probe;
  probe.prepare(array, hash);
  return probe.bit();
}

// Inlined into functions of every instruction set, so that the probe can be inlined into them as well. Looks
// at the second level only if the filter says maybe, as it seldom does for an absent key.
template <KeyProbe Probe, bool kHasRetrieval>
[[gnu::always_inline]] inline bool look_up(const ShardArray& array, KeyHash hash) noexcept {
  Probe probe;
  probe.prepare(array, hash);
  if (!probe.may_contain(array, hash)) return false;
  return !kHasRetrieval || second_bit(array, hash);
}

template <KeyProbe Probe>
void prefetch_one(const ShardArray& array, KeyHash hash) noexcept {
  if constexpr (Probe::kReadsEntry) {
    if (array.shard_count > kCachedEntries) return __builtin_prefetch(array.entries + array.index_of(hash));
  }
  Probe probe;
  probe.prepare(array, hash);
  probe.prefetch(array, hash);
}

// Prepares and prefetches a batch.
template <KeyProbe Probe>
[[gnu::always_inline]] inline void prepare_all(const ShardArray& array, std::span<const KeyHash> batch,
                                               std::array<Probe, kBatch>& probes) noexcept {
  if constexpr (Probe::kReadsEntry) {
    if (array.shard_count > kCachedEntries) {
      for (const KeyHash& hash : batch) __builtin_prefetch(array.entries + array.index_of(hash));
    }
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    probes[i].prepare(array, batch[i]);
    probes[i].prefetch(array, batch[i]);
  }
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

template <KeyProbe Probe, bool kHasRetrieval>
[[gnu::always_inline]] inline void look_up_many(const ShardArray& array, std::span<const KeyHash> hashes,
                                                bool* results) noexcept {
  if (array.bytes() <= kCachedBytes) {
    for (std::size_t i = 0; i < hashes.size(); ++i)
      results[i] = look_up<Probe, kHasRetrieval>(array, hashes[i]);
    return;
  }
  while (!hashes.empty()) {
    const auto batch = hashes.first(std::min(hashes.size(), kBatch));
    std::array<Probe, kBatch> probes;
    prepare_all(array, batch, probes);
    for (std::size_t i = 0; i < batch.size(); ++i) results[i] = probes[i].may_contain(array, batch[i]);
    if constexpr (kHasRetrieval) look_up_bits(array, batch, results);
    results += batch.size();
    hashes = hashes.subspan(batch.size());
  }
}

// As look_up(), for a map.
template <ValueProbe Probe, bool kHasRetrieval>
[[gnu::always_inline]] inline MapAnswer find(const ShardArray& array, KeyHash hash) noexcept {
  Probe probe;
  probe.prepare(array, hash);
  const MapAnswer answer = probe.find(array);
  return !kHasRetrieval || answer == kAbsent || second_bit(array, hash) ? answer : kAbsent;
}

// As look_up_many(). A map's key reads several cache lines of its shard, so they are always prefetched.
template <ValueProbe Probe, bool kHasRetrieval>
[[gnu::always_inline]] inline void find_many(const ShardArray& array, std::span<const KeyHash> hashes,
                                             MapAnswer* results) noexcept {
  while (!hashes.empty()) {
    const auto batch = hashes.first(std::min(hashes.size(), kBatch));
    std::array<Probe, kBatch> probes;
    prepare_all(array, batch, probes);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      results[i] = probes[i].find(array);
      if (kHasRetrieval && results[i] != kAbsent && !second_bit(array, batch[i])) results[i] = kAbsent;
    }
    results += batch.size();
    hashes = hashes.subspan(batch.size());
  }
}

// Compiles the body of a lookup for the instructions that every processor of the architecture has, or for
// more. A set without known-absent keys has lookups of its own, which know nothing of a second level.
struct BaselineCode {
  template <auto kBody, typename... Arguments>
  static auto run(Arguments... arguments) noexcept {
    return kBody(arguments...);
  }
};

#if KEYSIEVE_X86_64
struct Avx2Code {
  template <auto kBody, typename... Arguments>
  KEYSIEVE_AVX2 [[gnu::flatten]] static auto run(Arguments... arguments) noexcept {
    return kBody(arguments...);
  }
};
#endif

template <typename Code, KeyProbe Probe, bool kHasRetrieval>
constexpr Lookup lookup_with() noexcept {
  Lookup lookup{.may_contain = Code::template run<look_up<Probe, kHasRetrieval>>,
                .may_contain_many = Code::template run<look_up_many<Probe, kHasRetrieval>>,
                .prefetch = prefetch_one<Probe>};
  if constexpr (ValueProbe<Probe>) {
    lookup.find = Code::template run<find<Probe, kHasRetrieval>>;
    lookup.find_many = Code::template run<find_many<Probe, kHasRetrieval>>;
  }
  return lookup;
}

// The lookups of sets with such parameters.
template <typename Code, KeyProbe Probe>
constexpr Lookup lookup_of(const FilterParams& params) noexcept {
  return params.retrieval_bytes != 0 ? lookup_with<Code, Probe, true>() : lookup_with<Code, Probe, false>();
}

}  // namespace keysieve
