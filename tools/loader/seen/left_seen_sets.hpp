// Seen sets that were taken out of the configuration. Their keys count as seen until their windows are over,
// so that a set that moves to another loader loses nothing; then their memory is freed. A mark in shared
// memory says so, which the loader sets that had them, and which another one takes away by going on with the
// set.
#pragma once

#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "tools/loader/config/config.hpp"

namespace keysieve {

class LeftSeenSets {
 public:
  explicit LeftSeenSets(const LoaderConfig& config);

  // Removes those that are marked, not configured here, and over. Others stay, whatever goes wrong.
  void remove_over(UnixSeconds now) const;

 private:
  void remove_if_over(const std::string& name, UnixSeconds now) const;

  std::string directory_;
  std::vector<std::string> configured_;
};

}  // namespace keysieve
