// Chunks, pointer records and what hosts tell each other of seen sets, from a store, are decoded or refused
// with an Error; what is accepted means the same after it was written and read again. Input: the value; for a
// seen set the bytes that the checksum covers.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"
#include "tools/loader/seen/seen_log.hpp"
#include "tools/records/chunk.hpp"
#include "tools/records/pointer_record.hpp"

namespace keysieve {
namespace {

// Behind the magic and the checksum.
constexpr std::size_t kSeenLogCheckedAt = 16;

void decode_as_chunk(std::string_view value) {
  const std::size_t payload = value.size() < kChunkHeaderBytes ? 0 : value.size() - kChunkHeaderBytes;
  for (const std::uint32_t number : {0U, 1U}) {
    try {
      decode_chunk(value, number, payload, "fuzz");
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Data) throw;
      // Refused with a reason.
    }
  }
}

void decode_as_pointer(std::string_view value) {
  try {
    const PointerRecord record = decode_pointer_record(value, "fuzz");
    if (decode_pointer_record(encode(record), "fuzz") != record) __builtin_trap();
  } catch (const Error&) {
    // Refused with a reason.
  }
}

void decode_as_seen_log_entry(std::string_view checked) {
  std::string value = encode(SeenLogEntry{});
  value.resize(kSeenLogCheckedAt);
  value += checked;
  const std::uint64_t sum = checksum(as_bytes(checked));
  std::memcpy(value.data() + kSeenLogCheckedAt - sizeof sum, &sum, sizeof sum);
  try {
    const SeenLogEntry entry = decode_seen_log_entry(value, "fuzz");
    for (const SeenTag& tag : entry.tags) {
      if (tag.bits < tag_bits(kMostTags) || tag.bits > kMostTagBits) __builtin_trap();
    }
    if (decode_seen_log_entry(encode(entry), "fuzz") != entry) __builtin_trap();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data) throw;
    // Refused with a reason.
  }
}

}  // namespace
}  // namespace keysieve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view value(reinterpret_cast<const char*>(data), size);
  keysieve::decode_as_chunk(value);
  keysieve::decode_as_pointer(value);
  keysieve::decode_as_seen_log_entry(value);
  return 0;
}
