// Chunks, pointer records and lists of saved filters from a store are decoded or refused with an Error; what
// is accepted means the same after it was written and read again. Input: the value; of a list what its
// checksum covers.
#include <cstdint>
#include <string_view>

#include "core/base/error.hpp"
#include "tools/loader/seen/saved_filters.hpp"
#include "tools/transfer/chunk.hpp"
#include "tools/transfer/pointer_record.hpp"

namespace keysieve {
namespace {

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

void decode_as_saved_filters(std::string_view payload) {
  const std::string value = encode_chunk(0, as_bytes(payload));
  try {
    if (encode(decode_saved_filters(value, "fuzz")) != value) __builtin_trap();
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
  keysieve::decode_as_saved_filters(value);
  return 0;
}
