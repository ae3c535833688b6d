// What `keysieve status --readers` adds: which processes have which publication attached.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/print_json.hpp"
#include "tools/status/reader_processes.hpp"

namespace keysieve {

class ReaderReport {
 public:
  // Of these sets, or of all when none is named. Throws as reader_processes().
  ReaderReport(const std::string& directory, const std::vector<std::string>& set_names);

  void print() const;
  // "readers" and "unreadable_processes".
  [[nodiscard]] Json json() const;

 private:
  ReaderProcesses found_;
};

}  // namespace keysieve
