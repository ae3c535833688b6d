// What the loader knows about one pattern of the configuration, for log, metrics and status page.
#pragma once

#include <cstddef>
#include <string>

namespace keysieve {

struct PatternReport {
  std::string pattern;
  std::string store;
  std::size_t sets = 0;  // that are followed
  std::size_t max_sets = 0;
  std::string reason{};  // what was wrong with the last look; empty: nothing
  int exit_status = 0;   // of that

  [[nodiscard]] bool is_good() const noexcept { return reason.empty(); }
};

}  // namespace keysieve
