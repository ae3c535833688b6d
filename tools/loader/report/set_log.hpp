// The log lines about the refreshes of one set. Each change is logged once, not at every look.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "tools/loader/report/refresh_outcome.hpp"

namespace keysieve {

// One per set.
class SetLog {
 public:
  explicit SetLog(std::string set_name) : set_name_(std::move(set_name)) {}

  // After a refresh: logs the trouble with its code, or that it is over, unless that was logged last.
  // `is_cached`: the cache is in no trouble, which would not be over.
  void say(const RefreshOutcome& outcome, bool is_cached);
  // A new publication, which is a change by itself.
  void say_published(const LivePublication& live, bool from_cache);
  // Until when the store bypasses the set; nothing: it does not. Logged when that changes.
  void say_bypass(std::optional<UnixSeconds> until);
  // An entry of the adds log is skipped. Logged once for each `kind`, with `what` it is.
  void say_skipped(std::string_view kind, const std::string& what);
  // The cache cannot be used, which costs nothing as long as the store answers. Logged once, until it works
  // again.
  void say_cache_trouble(const std::string& reason);
  void cache_is_well();

 private:
  [[nodiscard]] bool is_what_was_said(const RefreshOutcome& outcome) const;

  std::string set_name_;
  std::optional<RefreshOutcome> said_;
  std::optional<UnixSeconds> said_bypass_;
  bool has_said_cache_trouble_ = false;
  std::set<std::string, std::less<>> said_skipped_;
};

}  // namespace keysieve
