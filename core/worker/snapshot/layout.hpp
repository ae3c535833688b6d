// The bytes of a snapshot, the same in file, store and memory. In this order: header page, shard table, seeds
// of the second levels, checksum table, padding to a page boundary, shards.
// docs/snapshot_format.md has the byte tables, and golden files pin them. Also the format numbers that this
// version knows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "core/worker/base/bytes.hpp"
#include "core/worker/base/checksum.hpp"
#include "core/worker/base/clock.hpp"
#include "core/worker/base/log_position.hpp"
#include "core/worker/base/set_name.hpp"
#include "core/worker/filters/lookup_kind.hpp"

namespace keysieve {

using Digest = std::array<std::uint8_t, 32>;     // BLAKE2b-256
using PublicKey = std::array<std::uint8_t, 32>;  // of Ed25519, like the signature
using Signature = std::array<std::uint8_t, 64>;

inline constexpr std::array<char, 8> kSnapshotMagic{'K', 'E', 'Y', 'S', 'I', 'E', 'V', 'E'};
inline constexpr std::uint8_t kHashIdXxh3 = 1;
inline constexpr std::size_t kKeyProfileBytes = 64;
inline constexpr std::size_t kKnownAbsentSample = 64;
inline constexpr std::size_t kValueSample = 64;

using BuildId = std::array<std::uint8_t, 16>;

// 32 lower-case hexadecimal digits.
std::string to_hex(const BuildId& id);

struct TableSpan {
  std::uint64_t offset;  // from the first byte of the snapshot
  std::uint64_t bytes;

  friend bool operator==(const TableSpan&, const TableSpan&) = default;
};

struct SnapshotHeader {
  std::array<char, 8> magic;
  std::uint16_t format;
  std::uint8_t kind;
  std::uint8_t hash_id;
  std::uint32_t header_bytes;  // kPageBytes
  HashSeed seed;
  std::uint32_t shard_bytes;
  std::uint32_t shard_count;
  std::uint64_t key_count;  // distinct keys
  std::uint8_t hash_count;  // first of the 16 bytes of kind parameters
  std::uint8_t value_bits;  // of each key's value in a map, 1 to 32; 0: it is no map
  std::array<std::uint8_t, 14> reserved_params;
  double target_fpr;
  double estimated_fpr;
  std::int64_t as_of;      // Unix seconds; like all moments 0 to kFarthestMoment
  std::int64_t built_at;   // Unix seconds
  std::int64_t valid_for;  // seconds after as_of; 0: no limit
  BuildId build_id;
  LogPosition adds_from;                           // the shards hold all entries of the adds log up to here
  std::array<char, kMaxSetNameBytes> set_name;     // padded with NUL
  std::array<char, kKeyProfileBytes> key_profile;  // padded with NUL
  std::uint64_t file_bytes;
  TableSpan shard_table;     // ShardEntry per shard
  TableSpan checksum_table;  // XXH3-64 per shard
  TableSpan shards;
  std::uint64_t tables_checksum;  // XXH3-64 from the end of the header page to the first shard
  std::uint64_t known_absent;     // distinct keys that are certainly absent, none of them in the set
  TableSpan retrieval_seeds;      // a byte per shard if it has a second level, then zeros; else empty
  std::uint32_t retrieval_bytes;  // of the second level of each shard; 0: there is none
  std::uint32_t sample_count;
  std::array<KeyHash, kKnownAbsentSample> known_absent_sample;  // keys that must be absent
  // In a signed snapshot; all zero in others, up to and with the signature.
  Digest contents_digest;  // BLAKE2b-256 of the digests of what tables_checksum covers and of each shard
  PublicKey public_key;    // the signer's
  // In a map, some of its keys, the first of each 64th of all hashes, and their values.
  std::array<KeyHash, kValueSample> sampled_hashes;
  std::array<std::uint32_t, kValueSample> sampled_values;
  std::uint32_t sampled_count;
  std::array<std::uint8_t, 2316> reserved;
  Signature signature;            // of all header bytes before it
  std::uint64_t header_checksum;  // XXH3-64 of all header bytes before it

  [[nodiscard]] constexpr bool is_signed() const noexcept { return public_key != PublicKey{}; }
};

static_assert(std::is_trivially_copyable_v<SnapshotHeader> && std::is_standard_layout_v<SnapshotHeader>);
static_assert(sizeof(SnapshotHeader) == kPageBytes);
static_assert(offsetof(SnapshotHeader, format) == 8);
static_assert(offsetof(SnapshotHeader, kind) == 10);
static_assert(offsetof(SnapshotHeader, hash_id) == 11);
static_assert(offsetof(SnapshotHeader, header_bytes) == 12);
static_assert(offsetof(SnapshotHeader, seed) == 16);
static_assert(offsetof(SnapshotHeader, shard_bytes) == 32);
static_assert(offsetof(SnapshotHeader, shard_count) == 36);
static_assert(offsetof(SnapshotHeader, key_count) == 40);
static_assert(offsetof(SnapshotHeader, hash_count) == 48);
static_assert(offsetof(SnapshotHeader, value_bits) == 49);
static_assert(offsetof(SnapshotHeader, target_fpr) == 64);
static_assert(offsetof(SnapshotHeader, estimated_fpr) == 72);
static_assert(offsetof(SnapshotHeader, as_of) == 80);
static_assert(offsetof(SnapshotHeader, built_at) == 88);
static_assert(offsetof(SnapshotHeader, valid_for) == 96);
static_assert(offsetof(SnapshotHeader, build_id) == 104);
static_assert(offsetof(SnapshotHeader, adds_from) == 120);
static_assert(offsetof(SnapshotHeader, set_name) == 136);
static_assert(offsetof(SnapshotHeader, key_profile) == 200);
static_assert(offsetof(SnapshotHeader, file_bytes) == 264);
static_assert(offsetof(SnapshotHeader, shard_table) == 272);
static_assert(offsetof(SnapshotHeader, checksum_table) == 288);
static_assert(offsetof(SnapshotHeader, shards) == 304);
static_assert(offsetof(SnapshotHeader, tables_checksum) == 320);
static_assert(offsetof(SnapshotHeader, known_absent) == 328);
static_assert(offsetof(SnapshotHeader, retrieval_seeds) == 336);
static_assert(offsetof(SnapshotHeader, retrieval_bytes) == 352);
static_assert(offsetof(SnapshotHeader, sample_count) == 356);
static_assert(offsetof(SnapshotHeader, known_absent_sample) == 360);
static_assert(offsetof(SnapshotHeader, contents_digest) == 872);
static_assert(offsetof(SnapshotHeader, public_key) == 904);
static_assert(offsetof(SnapshotHeader, sampled_hashes) == 936);
static_assert(offsetof(SnapshotHeader, sampled_values) == 1448);
static_assert(offsetof(SnapshotHeader, sampled_count) == 1704);
static_assert(offsetof(SnapshotHeader, reserved) == 1708);
static_assert(offsetof(SnapshotHeader, signature) == 4024);
static_assert(offsetof(SnapshotHeader, header_checksum) == 4088);

// All offsets follow from the geometry.
struct SnapshotLayout {
  TableSpan shard_table;
  TableSpan retrieval_seeds;
  TableSpan checksum_table;
  TableSpan shards;
  std::uint64_t file_bytes;
};

constexpr SnapshotLayout snapshot_layout(std::uint64_t shard_count, const FilterParams& params) {
  const TableSpan shard_table{kPageBytes, shard_count * sizeof(ShardEntry)};
  const std::uint64_t after = shard_table.offset + shard_table.bytes;
  const TableSpan seeds =
      params.retrieval_bytes == 0 ? TableSpan{} : TableSpan{after, (shard_count + 7) / 8 * 8};
  const TableSpan checksum_table{after + seeds.bytes, shard_count * sizeof(std::uint64_t)};
  const TableSpan shards{round_up_to_page(checksum_table.offset + checksum_table.bytes),
                         shard_count * params.stride()};
  return {shard_table, seeds, checksum_table, shards, shards.offset + shards.bytes};
}

// These take a header whose values have been checked.
constexpr FilterParams params_of(const SnapshotHeader& header) {
  return {header.shard_bytes, header.hash_count, header.retrieval_bytes, header.value_bits};
}
constexpr SnapshotLayout snapshot_layout(const SnapshotHeader& header) {
  return snapshot_layout(header.shard_count, params_of(header));
}

// What tables_checksum covers. `snapshot` is the whole, or all of it before the first shard.
inline Bytes tables_of(Bytes snapshot, const SnapshotLayout& layout) noexcept {
  return snapshot.subspan(kPageBytes, layout.shards.offset - kPageBytes);
}

// What the signature of a signed snapshot covers.
Bytes signed_bytes(const SnapshotHeader& header) noexcept;

// The numbers of the snapshot format that a version knows: the newest and the one before. It can read and
// build both, so that a host and its builders need not be upgraded at the same moment; docs/operate.md gives
// the order.
//
// The format that is built by default. In a file of its own, newest_format.cpp, so that the tests can link
// programs of the next number.
std::uint16_t newest_snapshot_format() noexcept;
std::uint16_t oldest_snapshot_format() noexcept;

// "1", or "1 and 2".
std::string snapshot_formats_text();

// Throws Incompatible that begins with `source` and says how to handle another format.
void check_snapshot_format(std::uint16_t format, const std::string& source);

}  // namespace keysieve
