// Prints a list of distinct keys of 20 bytes, one per line, as fast as a pipe takes it: key_list COUNT. The
// part `build` of tools/workshop/bench/run reads it.
#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>
#include <string>

#include "core/worker/hash/key_hash.hpp"
#include "tools/workshop/bench/program.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kBytesPerWrite = 1 << 18;

// "key-" and 16 hexadecimal digits of i times an odd number, so that keys are as distinct as i.
void print(std::uint64_t count) {
  fmt::memory_buffer lines;
  for (std::uint64_t i = 0; i < count; ++i) {
    fmt::format_to(std::back_inserter(lines), "key-{:016x}\n", i * kG);
    if (lines.size() < kBytesPerWrite && i + 1 < count) continue;
    if (std::fwrite(lines.data(), 1, lines.size(), stdout) != lines.size())
      throw std::runtime_error("cannot write the list");
    lines.clear();
  }
}

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  return keysieve::run_main("key_list COUNT", argc, argv,
                            [](char** arguments) { keysieve::print(std::stoull(arguments[1])); });
}
