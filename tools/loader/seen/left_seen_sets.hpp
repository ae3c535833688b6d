// Seen sets that were taken out of the configuration. Their keys count as seen until their windows are over,
// so that a set that moves to another loader loses nothing; then their memory is freed. A mark in shared
// memory says so. The loader marks those that a reload takes away, and those of a loader that has stopped and
// has not looked again as it had promised: a restart without them. A loader that goes on with a set takes
// the mark away.
#pragma once

#include <string>
#include <vector>

#include "core/worker/base/clock.hpp"
#include "tools/loader/config/config.hpp"

namespace keysieve {

class LeftSeenSets {
 public:
  explicit LeftSeenSets(const LoaderConfig& config);

  // Looks at the sets that are not configured here and that no loader holds. Marks those that were left.
  // Removes those that are marked and over, and folders without a page. Others stay, whatever goes wrong.
  void look(UnixSeconds now) const;

 private:
  void look_at(const std::string& name, UnixSeconds now) const;

  std::string directory_;
  std::vector<std::string> configured_;
};

}  // namespace keysieve
