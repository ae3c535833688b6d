// What one part of the benches has measured, as its program printed it: tables, plots, how its aims were
// met, and how the peers were set up. The JSON is described in tools/bench/README.md.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace keysieve {

struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

struct PlotFile {
  std::string title;
  std::string name;  // "php_methods", without folder and ending
  std::string svg;
};

struct AimCheck {
  std::string aim;
  std::string wanted;
  std::string measured;
  bool reached = false;
};

struct Part {
  std::vector<std::string> settings;
  std::vector<Table> tables;
  std::vector<PlotFile> plots;
  std::vector<AimCheck> checks;
};

// Throws Data that names the file and what is wrong with it, MissingInput when it is not there.
Part read_part(const std::filesystem::path& file);

}  // namespace keysieve
