// What main() of a bench program does with an exception: one line that names the program, and status 1.
#pragma once

#include <cstdio>
#include <exception>

namespace keysieve {

template <typename Run>
int run_main(const char* program, Run run) {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 1;
  }
}

}  // namespace keysieve
