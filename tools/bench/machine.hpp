// What a benchmark says of the machine that it ran on.
#pragma once

#include <fstream>
#include <string>

namespace keysieve {

inline std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

}  // namespace keysieve
