#include "tools/loader/seen/left_seen_sets.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/publisher/seen/seen_writer.hpp"
#include "core/worker/base/error.hpp"
#include "tools/status/seen_set_facts.hpp"

namespace keysieve {
namespace {

enum class Next { Nothing, Mark, Remove };

Next next_of(const SeenPage& page, UnixSeconds now) {
  if (Troubles(page.troubles.load(std::memory_order_relaxed)).has(Trouble::NotConfigured))
    return page.over_at() <= now ? Next::Remove : Next::Nothing;
  const UnixSeconds next_look = page.next_look.load(std::memory_order_relaxed);
  return next_look != 0 && next_look < now ? Next::Mark : Next::Nothing;
}

// Without the lock, which a loader that goes on with the set may want.
Next next_of(const std::string& directory, const std::string& name, UnixSeconds now) {
  const SetFolder folder = SetFolder::open(seen_directory(directory), name, std::nullopt);
  if (!folder.status_of(kSeenPageName)) return Next::Remove;
  return next_of(open_seen_page<const SeenPage>(folder).page(), now);
}

// With it: another loader may have gone on with the set meanwhile.
Next next_of(SeenWriter& writer, UnixSeconds now) {
  if (!writer.has_page()) return Next::Remove;
  return writer.adopt() ? next_of(writer.page(), now) : Next::Nothing;
}

}  // namespace

LeftSeenSets::LeftSeenSets(const LoaderConfig& config) : directory_(config.directory) {
  for (const SeenConfig& seen : config.seen) configured_.push_back(seen.name);
}

void LeftSeenSets::look(UnixSeconds now) const {
  try {
    for (const std::string& name : seen_sets_in(directory_)) {
      if (std::ranges::find(configured_, name) == configured_.end()) look_at(name, now);
    }
  } catch (const Error& error) {
    spdlog::debug("seen sets that are not configured: {}", error.what());
  }
}

void LeftSeenSets::look_at(const std::string& name, UnixSeconds now) const {
  try {
    if (next_of(directory_, name, now) == Next::Nothing) return;
    SeenWriter writer(directory_, name, std::nullopt);
    switch (next_of(writer, now)) {
      case Next::Nothing:
        return;
      case Next::Mark:
        writer.leave(now);
        return spdlog::info(
            "{}: is not configured, and no loader looks at it; it ends when its windows are over", name);
      case Next::Remove:
        writer.remove();
        return spdlog::info("{}: is not configured any more and its windows are over; its memory is freed",
                            name);
    }
  } catch (const Error& error) {
    spdlog::debug("{}: is not configured any more: {}", name, error.what());
  }
}

}  // namespace keysieve
