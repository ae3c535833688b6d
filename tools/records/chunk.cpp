#include "tools/records/chunk.hpp"

#include <fmt/core.h>

#include <charconv>

#include "core/builder/base/random.hpp"
#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

struct ChunkHeader {
  std::array<char, 4> magic;
  std::uint32_t number;    // from 0
  std::uint64_t checksum;  // XXH3-64 of the payload
};
static_assert(sizeof(ChunkHeader) == kChunkHeaderBytes);
static_assert(offsetof(ChunkHeader, number) == 4);
static_assert(offsetof(ChunkHeader, checksum) == 8);

constexpr std::array<char, 4> kChunkMagic{'K', 'S', 'C', '1'};

std::string header_of(std::uint32_t number, Bytes payload) {
  const ChunkHeader header{kChunkMagic, number, checksum(payload)};
  return std::string(as_text(std::as_bytes(std::span(&header, 1))));
}

constexpr std::size_t kMomentBytes = 6;  // of a push id

std::uint64_t milliseconds_in(const PushId& id) {
  std::uint64_t milliseconds = 0;
  for (std::size_t i = 0; i < kMomentBytes; ++i) milliseconds = milliseconds << 8U | id[i];
  return milliseconds;
}

// Makes it the id of that moment.
void set_milliseconds(PushId& id, std::uint64_t milliseconds) {
  for (std::size_t i = kMomentBytes; i-- > 0; milliseconds >>= 8U)
    id[i] = static_cast<std::uint8_t>(milliseconds);
}

}  // namespace

PushId first_push_id(UnixSeconds moment) {
  PushId id{};
  set_milliseconds(id, static_cast<std::uint64_t>(std::max<UnixSeconds>(moment, 0)) * 1000);
  return id;
}

PushId new_push_id(UnixSeconds moment, const PushId& newest) {
  auto id = random_value<PushId>();
  set_milliseconds(id, std::max(milliseconds_in(first_push_id(moment)), milliseconds_in(newest) + 1));
  return id;
}

std::string chunk_key(std::string_view prefix, std::string_view set_name, const PushId& push_id,
                      std::uint32_t number) {
  std::string key(prefix);
  key.append(":").append(set_name).append(":").append(to_hex(push_id)).append(":");
  return key.append(std::to_string(number));
}

std::optional<PushId> push_of_chunk(std::string_view prefix, std::string_view set_name,
                                    std::string_view key) {
  const std::size_t id_at = std::min(key.size(), prefix.size() + set_name.size() + 2);
  const auto push_id = parse_id(key.substr(id_at, 2 * std::tuple_size_v<PushId>));
  const std::string_view digits = key.substr(key.rfind(':') + 1);
  std::uint32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_chunk = push_id && key == chunk_key(prefix, set_name, *push_id, number);
  return is_chunk ? push_id : std::nullopt;
}

std::string encode_chunk(std::uint32_t number, Bytes payload) {
  return header_of(number, payload).append(as_text(payload));
}

Bytes decode_chunk(std::string_view value, std::uint32_t number, std::size_t payload_bytes,
                   const std::string& source) {
  const Bytes payload = as_bytes(value).subspan(std::min(kChunkHeaderBytes, value.size()));
  if (value.size() != kChunkHeaderBytes + payload_bytes || !value.starts_with(header_of(number, payload)))
    throw Error(ErrorKind::Data, source + ": is damaged");
  return payload;
}

std::string to_hex(std::uint64_t number) {
  return fmt::format("{:016x}", number);
}

std::string to_hex(const HashSeed& seed) {
  return to_hex(std::bit_cast<std::array<std::uint8_t, sizeof seed>>(seed));
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return to_hex(number) == text ? std::optional(number) : std::nullopt;
}

std::optional<std::array<std::uint8_t, 16>> parse_id(std::string_view text) {
  std::array<std::uint8_t, 16> id{};
  for (std::size_t i = 0; i < id.size() && 2 * i + 2 <= text.size(); ++i) {
    std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, id[i], 16);
  }
  return to_hex(id) == text ? std::optional(id) : std::nullopt;
}

std::optional<HashSeed> parse_seed(std::string_view text) {
  const auto id = parse_id(text);
  if (!id) return std::nullopt;
  const auto seed = std::bit_cast<HashSeed>(*id);
  return seed.is_zero() ? std::nullopt : std::optional(seed);
}

}  // namespace keysieve
