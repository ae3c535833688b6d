#include "tools/loader/seen/taken_entries.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "core/builder/base/random.hpp"
#include "core/publisher/seen/seen_sizing.hpp"
#include "core/worker/base/checksum.hpp"

namespace keysieve {
namespace {

// Once a filter is so many times as often wrong as planned, at about 1.3 times its keys, it takes nothing
// more from other hosts. So no host and no worker that adds too many keys spoils another host.
constexpr double kMostRate = 16;

// By how much these tags of one block may raise the rate of a filter, with all copies that they need.
double most_rate_of(std::span<const SeenTag> run, const SeenFilter& filter) noexcept {
  const auto tags = static_cast<double>(run.size() + kMostTags);
  const double share = tags / static_cast<double>(std::uint64_t{1} << run.front().bits);
  return std::min(share, 1.0) / static_cast<double>(filter.blocks());
}

}  // namespace

void begin_log(Store& store, const std::string& log, SeenWriter& writer) {
  SeenLogState& state = writer.page().log;
  const std::uint64_t id = checksum(as_bytes(store.name() + log));
  if (state.log == id) return;
  forget_sent(writer);
  state = {.log = id, .sender = random_value<std::uint64_t>()};
}

void forget_sent(const SeenWriter& writer) noexcept {
  for (const OpenFilter& filter : writer.filters()) {
    std::ranges::fill(filter.sent(), std::uint8_t{0});
    filter.tags_sent = 0;
  }
}

void refuse_plan(const SeenLogEntry& entry) {
  throw Error(
      ErrorKind::Data,
      fmt::format("host {} has other filters: keys, window, windows and fpr must be the same", entry.host));
}

SeenPlan plan_of(const SeenLogEntry& entry, SeenPlan first, const SeenConfig& config) {
  while (first.growth < entry.plan.growth) first = grown(first);
  const UnixSeconds ends = first.window.ends;
  const bool is_aligned = seen_window(config, ends - config.window.count()).ends == ends;
  if (!is_aligned || first.size != entry.plan.size) refuse_plan(entry);
  return first;
}

void add_tags_of(const SeenLogEntry& entry, const OpenFilter& to, bool is_own) {
  double rate = is_own ? 0 : seen_fill(to.filter).rate;
  for (auto rest = std::span<const SeenTag>(entry.tags); !rest.empty();) {
    const auto run = rest.first(run_length(rest));
    if (!is_own && rate + most_rate_of(run, to.filter) > kMostRate * to.plan.rate) {
      throw Error(ErrorKind::Data,
                  fmt::format("what host {} adds is not taken over: the window has more keys "
                              "than it is made for",
                              entry.host));
    }
    rate += add_tags(to.filter, to.sent(), run) / static_cast<double>(to.filter.blocks());
    rest = rest.subspan(run.size());
  }
}

}  // namespace keysieve
