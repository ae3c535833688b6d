#include "tools/loader/found_sets.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <span>

#include "core/worker/base/set_name.hpp"
#include "tools/loader/report/refresh_outcome.hpp"
#include "tools/program/program.hpp"
#include "tools/program/units.hpp"
#include "tools/transfer/stored_sets.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kNamesPerCall = 64;
// The looks at one store take at most this share of the time, however many records of others it passes over.
constexpr int kLeastPausePerLook = 20;
// Of deleted sets, too: their pointer records stay. Some 100 MB of names.
constexpr std::size_t kMostListed = 1'000'000;

std::string common_beginning(const std::string& one, const std::string& other) {
  return {one.begin(), std::ranges::mismatch(one, other).in1};
}

std::string common_ending(const std::string& one, const std::string& other) {
  const auto from = std::mismatch(one.rbegin(), one.rend(), other.rbegin(), other.rend()).first;
  return {from.base(), one.end()};
}

}  // namespace

FoundSets::FoundSets(const LoaderConfig& config, const StoreConfig& store, OpenStore open,
                     std::chrono::milliseconds longest_look)
    : config_(config),
      connection_(std::move(open), store.shown, store.poll_interval),
      longest_look_(longest_look) {
  for (const SetPattern& pattern : config.patterns) {
    if (pattern.each.store == store.name) patterns_.push_back({.config = &pattern});
  }
}

// The first of this store that matches; nullptr: none does.
FoundSets::Pattern* FoundSets::pattern_of(const std::string& set_name) {
  const auto own = std::ranges::find_if(
      patterns_, [&](const Pattern& pattern) { return pattern.config->matches(set_name); });
  return own == patterns_.end() ? nullptr : &*own;
}

void FoundSets::remember(const std::string& set_name) {
  Pattern* own = pattern_of(set_name);
  if (own == nullptr || !is_set_name(set_name) || config_.names_set(set_name)) return;
  if (own->config != config_.pattern_of(set_name)) return;
  own->names.insert(set_name);
  own->is_looked_at = true;
}

bool FoundSets::drop(const std::string& set_name) {
  return std::ranges::any_of(patterns_, [&](Pattern& pattern) { return pattern.names.erase(set_name) != 0; });
}

std::vector<SetConfig> FoundSets::look(const std::function<bool()>& on_progress) {
  const SteadyTime begun = std::chrono::steady_clock::now();
  for (Pattern& pattern : patterns_) {
    pattern.first_problem.clear();
    pattern.exit_status = 0;
    pattern.more_problems = pattern.left_out = 0;
  }
  bool is_too_long = false;
  bool is_outage = false;
  const ListLimits limits{
      .most = kMostListed, .on_progress = [&] {
        if (!on_progress()) throw Stopped{};
        is_too_long = std::chrono::steady_clock::now() - begun > longest_look_;
        if (!is_too_long) return;
        throw Error(ErrorKind::Unavailable,
                    fmt::format("{}: takes longer than {} s to list what it holds", connection_.name(),
                                std::chrono::ceil<std::chrono::seconds>(longest_look_).count()));
      }};
  std::vector<SetConfig> fresh;
  try {
    connection_.use(begun, [&](Store& store) {
      look(store, limits, fresh);
      return true;
    });
  } catch (const Error& error) {
    is_outage = error.is_outage();
    for (Pattern& pattern : patterns_) pattern.note(error.kind(), error.what());
  } catch (const std::exception& error) {  // no memory
    for (Pattern& pattern : patterns_) pattern.note(ErrorKind::CannotCreate, error.what());
  }
  connection_.close();
  // A store that is away is left alone by its connection: what was a timeout is no measure of what it holds.
  if (is_too_long || !is_outage) {
    const SteadyTime now = std::chrono::steady_clock::now();
    due_at_ = now + kLeastPausePerLook * (now - begun);
  }
  say();
  return fresh;
}

void FoundSets::cannot_look(const Error& error) {
  for (Pattern& pattern : patterns_) {
    pattern.first_problem = error.what();
    pattern.exit_status = exit_status_of(error.kind());
    pattern.more_problems = pattern.left_out = 0;
  }
  say();
}

void FoundSets::look(Store& store, const ListLimits& limits, std::vector<SetConfig>& fresh) {
  std::vector<std::string> names = names_of_stored_sets(store, names_of_all(), limits);
  std::erase_if(names, [&](const std::string& name) {
    const Pattern* own = pattern_of(name);
    return own == nullptr || config_.names_set(name) || own->names.contains(name);
  });
  std::rotate(names.begin(), std::lower_bound(names.begin(), names.end(), next_name_), names.end());
  for (std::size_t first = 0; first < names.size(); first += kNamesPerCall) {
    next_name_ = names[first];
    limits.on_progress();
    const auto some = std::span(names).subspan(first, std::min(kNamesPerCall, names.size() - first));
    for (const StoredSet& set : stored_sets(store, some)) take(set, fresh);
  }
  next_name_.clear();
  for (Pattern& pattern : patterns_) {
    if (pattern.left_out == 0) continue;
    pattern.note(ErrorKind::Config,
                 fmt::format("max_sets = {} leaves out {} of the store", pattern.config->max_sets,
                             format_count_of(pattern.left_out, "set")));
  }
}

void FoundSets::take(const StoredSet& set, std::vector<SetConfig>& fresh) {
  Pattern& pattern = *pattern_of(set.name);
  const SetPattern& first = *config_.pattern_of(set.name);
  if (set.failure) {
    pattern.note(set.failure->kind(), set.failure->what());
  } else if (&first != pattern.config) {
    pattern.note(ErrorKind::Config, fmt::format("{} is not followed from here: {} of store {} comes first",
                                                set.name, first.each.name, first.each.store));
  } else if (pattern.names.size() >= pattern.config->max_sets) {
    ++pattern.left_out;
  } else {
    pattern.names.insert(set.name);
    fresh.push_back(pattern.config->config_of(set.name));
  }
}

// One list is enough for all patterns: "shop-*-eu" and "shop-*-us" are in "shop-*".
KeyPattern FoundSets::names_of_all() const {
  KeyPattern all = patterns_.front().config->names();
  for (const Pattern& pattern : patterns_) {
    const KeyPattern other = pattern.config->names();
    all = {.prefix = common_beginning(all.prefix, other.prefix),
           .suffix = common_ending(all.suffix, other.suffix)};
  }
  return all;
}

void FoundSets::try_again_now() {
  due_at_ = {};
  connection_.try_again_now();
}

void FoundSets::end_first_look() {
  for (Pattern& pattern : patterns_) pattern.is_looked_at = true;
}

bool FoundSets::was_looked_at() const noexcept {
  return std::ranges::all_of(patterns_, &Pattern::is_looked_at);
}

void FoundSets::saved(const std::string& failure) {
  for (Pattern& pattern : patterns_) pattern.unsaved = failure;
  say();
}

std::vector<SetConfig> FoundSets::followed() const {
  std::vector<SetConfig> sets;
  for (const Pattern& pattern : patterns_) {
    for (const std::string& name : pattern.names) sets.push_back(pattern.config->config_of(name));
  }
  return sets;
}

std::vector<PatternReport> FoundSets::reports() const {
  std::vector<PatternReport> all;
  for (const Pattern& pattern : patterns_) all.push_back(pattern.report());
  return all;
}

void FoundSets::Pattern::note(ErrorKind kind, const std::string& problem) {
  if (!first_problem.empty()) {
    ++more_problems;
    return;
  }
  first_problem = problem;
  exit_status = exit_status_of(kind);
}

PatternReport FoundSets::Pattern::report() const {
  PatternReport report{.pattern = config->each.name,
                       .store = config->each.store,
                       .sets = names.size(),
                       .max_sets = config->max_sets,
                       .reason = first_problem,
                       .exit_status = exit_status};
  if (more_problems != 0) report.reason += fmt::format("; and {} more", format_count(more_problems));
  if (unsaved.empty()) return report;
  if (report.is_good()) report.exit_status = exit_status_of(ErrorKind::CannotCreate);
  report.reason += (report.is_good() ? "" : "; ") + unsaved;
  return report;
}

void FoundSets::say() {
  for (Pattern& pattern : patterns_) {
    const std::string reason = pattern.report().reason;
    if (reason == pattern.said) continue;
    if (reason.empty()) {
      spdlog::info("{}: all is well again", pattern.config->each.name);
    } else {
      spdlog::warn("{}: {}; sets that are followed stay so", pattern.config->each.name, reason);
    }
    pattern.said = reason;
  }
}

}  // namespace keysieve
