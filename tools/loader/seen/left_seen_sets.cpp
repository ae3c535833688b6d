#include "tools/loader/seen/left_seen_sets.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/seen/seen_writer.hpp"
#include "tools/status/directory_status.hpp"
#include "tools/status/seen_status.hpp"

namespace keysieve {
namespace {

bool is_marked(const SeenPage& page) {
  return Troubles(page.troubles.load(std::memory_order_relaxed)).has(Trouble::NotConfigured);
}

// Without the lock, which a loader that goes on with the set may want.
bool is_marked(const std::string& directory, const std::string& name) {
  const SetFolder folder = SetFolder::open(seen_directory(directory), name, std::nullopt);
  return is_marked(SeenPageFile(folder, MapAccess::ReadOnly).page());
}

}  // namespace

LeftSeenSets::LeftSeenSets(const LoaderConfig& config) : directory_(config.directory) {
  for (const SeenConfig& seen : config.seen) configured_.push_back(seen.name);
}

void LeftSeenSets::remove_over(UnixSeconds now) const {
  try {
    for (const std::string& name : seen_sets_in(directory_)) {
      if (std::ranges::find(configured_, name) == configured_.end()) remove_if_over(name, now);
    }
  } catch (const Error& error) {
    spdlog::debug("seen sets that are not configured: {}", error.what());
  }
}

void LeftSeenSets::remove_if_over(const std::string& name, UnixSeconds now) const {
  try {
    if (!is_marked(directory_, name)) return;
    SeenWriter writer(directory_, name, std::nullopt);
    // Under the lock: another loader may have gone on with it.
    if (!writer.adopt() || !is_marked(writer.page()) || writer.over_at() > now) return;
    writer.remove();
    spdlog::info("{}: is not configured any more and its windows are over; its memory is freed", name);
  } catch (const Error& error) {
    spdlog::debug("{}: is not configured any more: {}", name, error.what());
  }
}

}  // namespace keysieve
