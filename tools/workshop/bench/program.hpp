// Shared by the bench programs: main(), and facts about the machine.
#pragma once

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

namespace keysieve {

// The main() of a program that is called as `usage` says, such as "lookup_bench [--quick]": optional
// arguments are in brackets. `run` takes argv; an exception from it ends the program with one line that names
// it, and status 1.
template <typename Run>
int run_main(const std::string& usage, int argc, char** argv, Run run) {
  const auto most = std::count(usage.begin(), usage.end(), ' ') + 1;
  if (argc > most || argc < most - std::count(usage.begin(), usage.end(), '[')) {
    std::fprintf(stderr, "usage: %s\n", usage.c_str());
    return 64;
  }
  try {
    run(argv);
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
