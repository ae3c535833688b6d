// Decoding: turns untrusted bytes into something that can be queried. Everything is checked before it is
// used, and no unchecked length decides an allocation.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/worker/snapshot/layout.hpp"

namespace keysieve {

enum class Check {
  Tables,      // header and tables, which decide addresses. A few microseconds.
  Everything,  // also the checksum of every shard. Reads all bytes.
};

struct SampledValue {
  KeyHash hash;
  std::uint32_t value = 0;

  friend bool operator==(const SampledValue&, const SampledValue&) = default;
};

// A decoded snapshot in bytes that it does not own, aligned to pages, which must outlive it. A copy takes no
// more than some 300 bytes. Lookups are noexcept and may run in any number of threads and processes at once.
class SnapshotView {
 public:
  // `source` names the bytes in messages: a path or URL. Throws Data that says what is wrong and where, or
  // Incompatible for a format or kind of another version.
  static SnapshotView decode(Bytes bytes, std::string_view source, Check check);

  [[nodiscard]] const SnapshotHeader& header() const noexcept { return *header_; }
  [[nodiscard]] const LookupKind& kind() const noexcept { return *kind_; }
  [[nodiscard]] const ShardArray& shards() const noexcept { return array_; }
  [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
  [[nodiscard]] const HashSeed& seed() const noexcept { return hasher_.seed(); }
  // Hashes keys for this snapshot, with seed().
  [[nodiscard]] const KeyHasher& hasher() const noexcept { return hasher_; }
  [[nodiscard]] std::string_view set_name() const noexcept;
  [[nodiscard]] std::string_view key_profile() const noexcept;

  // Hashes of some known-absent keys, which must be absent.
  [[nodiscard]] std::span<const KeyHash> known_absent_sample() const noexcept;

  [[nodiscard]] bool is_map() const noexcept { return array_.params.value_bits != 0; }

  // Unix seconds from which on the answer is maybe; 0: never.
  [[nodiscard]] UnixSeconds valid_until() const noexcept;
  // Bytes of the file times 8 over keys; 0 for an empty set.
  [[nodiscard]] double bits_per_key() const noexcept;

  // Mean over the shards, as LookupKind::fill_ratio; nothing if the kind has none. Reads all shards.
  [[nodiscard]] std::optional<double> fill_ratio() const;
  [[nodiscard]] std::optional<double> fill_ratio(std::uint32_t shard) const;

  // For copying shards, a piece after the other: those from `first`, which there must be, up to 64 KiB.
  [[nodiscard]] Bytes some_shards(std::uint64_t first) const noexcept;
  // Throws Data, which names `source`, unless each of `shards`, copies of those from `first`, has its
  // checksum.
  void check_shards(std::uint64_t first, Bytes shards, std::string_view source) const;

  // Throws Data, which names `source`, unless the snapshot holds the set of that name.
  void check_set_name(std::string_view expected, const std::string& source) const;

  // The hash must have been made with seed(). False: certainly absent.
  [[nodiscard]] bool may_contain(KeyHash hash) const noexcept { return lookup_.may_contain(array_, hash); }
  // Begins to load what may_contain() reads first.
  void prefetch(KeyHash hash) const noexcept { lookup_.prefetch(array_, hash); }
  // results[i] answers hashes[i].
  void may_contain_many(std::span<const KeyHash> hashes, bool* results) const noexcept {
    lookup_.may_contain_many(array_, hashes, results);
  }
  // Requires a map. A key of the map has its value; any other is absent or, at the FPR, has some value.
  [[nodiscard]] MapAnswer find(KeyHash hash) const noexcept { return lookup_.find(array_, hash); }
  void find_many(std::span<const KeyHash> hashes, MapAnswer* results) const noexcept {
    lookup_.find_many(array_, hashes, results);
  }

 private:
  explicit SnapshotView(const HashSeed& seed) noexcept : hasher_(seed) {}

  ShardArray array_;
  Lookup lookup_{};
  KeyHasher hasher_;
  const LookupKind* kind_ = nullptr;
  const SnapshotHeader* header_ = nullptr;
  Bytes bytes_;
};

// Decodes the header alone, from the first kPageBytes of a snapshot or more. Throws as
// SnapshotView::decode().
SnapshotHeader decode_header(Bytes start, std::string_view source);

// Some keys of a map and their values, at most kValueSample. Requires a header that was decoded.
std::vector<SampledValue> value_sample_of(const SnapshotHeader& header);

}  // namespace keysieve
