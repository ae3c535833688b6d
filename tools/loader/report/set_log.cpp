#include "tools/loader/report/set_log.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include "tools/program/units.hpp"

namespace keysieve {
namespace {

std::string stays_live(const std::optional<LivePublication>& live) {
  if (!live) return "this process finds nothing live";
  if (live->is_damaged) return "what is live is damaged, lookups answer maybe";
  return fmt::format("generation {} stays live", live->generation);
}

std::string keys_and_size(const LivePublication& live) {
  const std::string known_absent =
      live.known_absent ? ", " + format_count_of(*live.known_absent, "known-absent key") : "";
  return fmt::format("{}{}, {}", format_count_of(live.key_count, "key"), known_absent,
                     format_bytes(live.bytes));
}

}  // namespace

void SetLog::say(const RefreshOutcome& outcome, bool is_cached) {
  if (is_what_was_said(outcome)) {
    if (!outcome.is_good()) spdlog::debug("{}: still: {}", set_name_, outcome.reason);
    return;
  }
  if (!outcome.is_good()) {
    spdlog::warn("{}: {}; {} [{}]", set_name_, outcome.reason, stays_live(outcome.live),
                 to_string(outcome.trouble));
  } else if (said_ && !is_cached) {
    spdlog::warn("{}: generation {} is current again, but the cache cannot be used [{}]", set_name_,
                 outcome.live->generation, to_string(Trouble::NotCached));
  } else if (said_) {
    spdlog::info("{}: all is well again; generation {} is current", set_name_, outcome.live->generation);
  } else {
    spdlog::info("{}: generation {} is live as publication {} ({})", set_name_, outcome.live->generation,
                 outcome.live->id.publication, keys_and_size(*outcome.live));
  }
  said_ = outcome;
}

void SetLog::say_published(const LivePublication& live, bool from_cache) {
  spdlog::info("{}: generation {}{} published as publication {} ({})", set_name_, live.generation,
               from_cache ? " from the cache" : "", live.id.publication, keys_and_size(live));
  said_ = RefreshOutcome{{}, live};
}

void SetLog::say_bypass(std::optional<UnixSeconds> until) {
  if (until == said_bypass_) return;
  if (!until) {
    spdlog::info("{}: not bypassed in the store any more", set_name_);
  } else if (*until == 0) {
    spdlog::warn("{}: bypassed in the store, lookups answer maybe", set_name_);
  } else {
    spdlog::warn("{}: bypassed in the store until {}, lookups answer maybe", set_name_,
                 format_moment(*until));
  }
  said_bypass_ = until;
}

void SetLog::say_skipped(std::string_view kind, const std::string& what) {
  if (said_skipped_.emplace(kind).second) spdlog::warn("{}: {}; it is skipped", set_name_, what);
}

void SetLog::say_cache_trouble(const std::string& reason) {
  if (!has_said_cache_trouble_)
    spdlog::warn("{}: the cache cannot be used: {} [{}]", set_name_, reason, to_string(Trouble::NotCached));
  has_said_cache_trouble_ = true;
}

void SetLog::cache_is_well() {
  if (has_said_cache_trouble_) spdlog::info("{}: what is live is in the cache again", set_name_);
  has_said_cache_trouble_ = false;
}

// Does not compare the reason's words, which may change at every try ("timed out", "connection refused").
bool SetLog::is_what_was_said(const RefreshOutcome& outcome) const {
  return said_ && said_->trouble == outcome.trouble && said_->exit_status == outcome.exit_status &&
         said_->refused == outcome.refused;
}

}  // namespace keysieve
