// A list of keys that is accepted yields exactly the stretches between its separators. Input: the list.
#include <string>
#include <vector>

#include "core/worker/base/error.hpp"
#include "tests/fuzz/check.hpp"
#include "tools/keys/key_file.hpp"

namespace keysieve {
namespace {

// Computes the same in another way, without buffers.
std::vector<std::string> stretches_of(std::string text, const KeyFileFormat& format) {
  std::vector<std::string> keys;
  const char separator = format.nul_separated ? '\0' : '\n';
  if (!text.empty() && text.back() != separator) text.push_back(separator);
  std::string key;
  for (const char character : text) {
    if (character != separator) {
      key.push_back(character);
      continue;
    }
    if (!format.nul_separated && key.ends_with('\r')) key.pop_back();
    if (format.nul_separated || !key.empty()) keys.push_back(key);
    key.clear();
  }
  return keys;
}

void read(const std::string& path, const std::string& text, const KeyFileFormat& format) {
  std::vector<std::string> keys;
  try {
    const std::uint64_t count =
        read_keys(path, format, [&](std::string_view key) { keys.emplace_back(key); }).count;
    if (count != keys.size() || keys != stretches_of(text, format)) __builtin_trap();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data) throw;
    // Refused with a reason.
  }
}

}  // namespace
}  // namespace keysieve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const keysieve::fuzz::MemoryFile file(data, size);
  keysieve::read(file.path(), text, {});
  keysieve::read(file.path(), text, {.allow_cr = true});
  keysieve::read(file.path(), text, {.nul_separated = true});
  keysieve::read(file.path(), text, {.max_key_bytes = 8});
  return 0;
}
