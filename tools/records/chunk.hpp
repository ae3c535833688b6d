// A snapshot travels in chunks: a 16-byte header (magic, number, checksum) and at most 65,504 bytes of the
// snapshot. Together they stay far under every store's limit.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/worker/base/bytes.hpp"
#include "core/worker/base/clock.hpp"
#include "core/worker/snapshot/layout.hpp"

namespace keysieve {

// Each push puts its chunks under an id of its own, which is never used again: the milliseconds of the moment
// when it began, big-endian in 6 bytes, and 10 random bytes. So ids sort by age, as keys in hexadecimal too.
using PushId = std::array<std::uint8_t, 16>;

// The least id of that moment. Moments before 1970 count as 1970.
PushId first_push_id(UnixSeconds moment);
// Draws an id of that moment, or of the millisecond after `newest` if the clock is behind that.
PushId new_push_id(UnixSeconds moment, const PushId& newest);

inline constexpr std::size_t kChunkHeaderBytes = 16;
inline constexpr std::size_t kChunkPayloadBytes = 65504;
static_assert(16 + kChunkHeaderBytes + kChunkPayloadBytes == 65536, "16 pages of LMDB with its header");

// Returns how many chunks a snapshot of that size needs.
constexpr std::uint64_t chunk_count_of(std::uint64_t bytes) {
  return bytes / kChunkPayloadBytes + (bytes % kChunkPayloadBytes != 0 ? 1 : 0);
}
// Returns the payload of chunk `number`, below the chunk count. The last one may be shorter.
template <typename Span>
Span chunk_payload(Span snapshot, std::uint32_t number) {
  const std::size_t offset = std::size_t{number} * kChunkPayloadBytes;
  return snapshot.subspan(offset, std::min(kChunkPayloadBytes, snapshot.size() - offset));
}

std::string chunk_key(std::string_view prefix, std::string_view set_name, const PushId& push_id,
                      std::uint32_t number);
// The push of a chunk of this set by its key; nothing for any other key.
std::optional<PushId> push_of_chunk(std::string_view prefix, std::string_view set_name, std::string_view key);

std::string encode_chunk(std::uint32_t number, Bytes payload);
// Returns the payload inside `value`. Throws Data naming `source` unless magic, number, size and checksum
// are right.
Bytes decode_chunk(std::string_view value, std::uint32_t number, std::size_t payload_bytes,
                   const std::string& source);

// Numbers and ids as the hexadecimal text of keys and records: 16 lower-case digits.
std::string to_hex(std::uint64_t number);
// Seeds and ids: 32, in the order of their bytes.
std::string to_hex(const HashSeed& seed);
// Parse a number, a build id or a push id. Nothing unless the text is exactly what to_hex() writes.
std::optional<std::uint64_t> parse_hex(std::string_view text);
std::optional<std::array<std::uint8_t, 16>> parse_id(std::string_view text);
// Zero is no seed.
std::optional<HashSeed> parse_seed(std::string_view text);

}  // namespace keysieve
