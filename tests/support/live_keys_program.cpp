// live_keys.hpp for tests that are not written in C++:
//
//   live_keys publish DIRECTORY SNAPSHOT
//   live_keys add DIRECTORY SET KEY...
#include <cstdio>
#include <exception>
#include <string_view>

#include "tests/support/live_keys.hpp"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 3 && words[0] == "publish") {
      keysieve::test::publish_with_layer(words[1], words[2]);
    } else if (words.size() > 3 && words[0] == "add") {
      keysieve::test::add_live_keys(words[1], words[2], {words.begin() + 3, words.end()});
    } else {
      std::fputs("usage: live_keys publish DIRECTORY SNAPSHOT | add DIRECTORY SET KEY...\n", stderr);
      return 64;
    }
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "live_keys: %s\n", failure.what());
    return 1;
  }
  return 0;
}
