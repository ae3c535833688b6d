// What the bench programs share: what main() does with an exception, and what is said of the machine.
#pragma once

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

namespace keysieve {

// Ends with one line that names the program, and status 1.
template <typename Run>
int run_main(const char* program, Run run) {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 1;
  }
}

inline std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

}  // namespace keysieve
