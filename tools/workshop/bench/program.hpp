// Shared by the bench programs: main(), and facts about the machine.
#pragma once

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>

namespace keysieve {

// The main() of a program that takes no arguments. An exception ends it with one line that names it, and
// status 1.
template <typename Run>
int run_main(int argc, char** argv, Run run) {
  if (argc > 1) {
    std::fprintf(stderr, "%s: takes no argument like %s\n", argv[0], argv[1]);
    return 64;
  }
  try {
    run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
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
