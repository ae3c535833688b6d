// Configurations of keysieved are loaded or refused with an Error. Input: the TOML file.
#include "core/worker/base/error.hpp"
#include "tests/fuzz/memory_file.hpp"
#include "tools/loader/config/config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const keysieve::fuzz::MemoryFile file(data, size);
  try {
    static_cast<void>(keysieve::load_config(file.path()));
  } catch (const keysieve::Error&) {
    // Refused with a reason.
  }
  return 0;
}
