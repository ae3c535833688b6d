// Prints a list of distinct keys of 20 bytes, a line each, as fast as a pipe takes it: what tools/bench/build
// reads. Built on demand.
#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <vector>

#include "core/hash/remix.hpp"
#include "tools/bench/run_main.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kLineBytes = 21;
constexpr std::size_t kLinesPerWrite = std::size_t{16} * 1024;

// "key-" and 16 hexadecimal digits of i times an odd number, which are as distinct as i is.
void write_line(char* line, std::uint64_t i) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::string_view kPrefix = "key-";
  char* at = std::copy(kPrefix.begin(), kPrefix.end(), line);
  const std::uint64_t number = i * kG;
  for (int shift = 60; shift >= 0; shift -= 4) *at++ = kDigits[number >> shift & 15];
  *at = '\n';
}

int print(std::uint64_t count) {
  std::vector<char> lines(kLineBytes * kLinesPerWrite);
  for (std::uint64_t done = 0; done < count;) {
    const std::size_t now = std::min<std::uint64_t>(kLinesPerWrite, count - done);
    for (std::size_t i = 0; i < now; ++i) write_line(lines.data() + i * kLineBytes, done + i);
    if (std::fwrite(lines.data(), kLineBytes, now, stdout) != now) return EXIT_FAILURE;
    done += now;
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  return keysieve::run_main("key_list", [=]() -> int {
    CLI::App program("Prints distinct keys of 20 bytes, a line each");
    std::uint64_t count = 0;
    program.add_option("COUNT", count, "How many")->required();
    CLI11_PARSE(program, argc, argv);
    return keysieve::print(count);
  });
}
