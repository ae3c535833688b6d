#include "tools/loader/found_sets.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <span>

#include "tools/program/program.hpp"
#include "tools/program/units.hpp"
#include "tools/transfer/stored_sets.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kNamesPerCall = 64;
// Looks take at most this share of the time, however many records of others Redis has to pass over.
constexpr int kLeastPausePerLook = 20;

}  // namespace

FoundSets::FoundSets(SetPattern pattern) : pattern_(std::move(pattern)) {}

bool FoundSets::take(const std::string& set_name) {
  return names_.size() < pattern_.max_sets && names_.insert(set_name).second;
}

std::vector<std::string> FoundSets::look(StoreConnection& connection, const LoaderConfig& config) {
  const SteadyTime begun = std::chrono::steady_clock::now();
  first_problem_.clear();
  exit_status_ = 0;
  more_problems_ = 0;
  std::vector<std::string> fresh;
  try {
    fresh = connection.use(begun, [&](Store& store) { return look(store, config); });
  } catch (const Error& error) {
    note(error.kind(), error.what());
  }
  const SteadyTime now = std::chrono::steady_clock::now();
  due_at_ = now + kLeastPausePerLook * (now - begun);
  say();
  return fresh;
}

std::vector<std::string> FoundSets::look(Store& store, const LoaderConfig& config) {
  const std::vector<std::string> names = strangers(store, config);
  const std::size_t room = pattern_.max_sets - names_.size();
  std::vector<std::string> fresh;
  std::size_t left_out = 0;
  std::size_t first = 0;
  for (; first < names.size() && fresh.size() < room; first += kNamesPerCall) {
    const auto some = std::span(names).subspan(first, std::min(kNamesPerCall, names.size() - first));
    for (StoredSet& set : stored_sets(store, some)) {
      if (set.failure) {
        note(set.failure->kind(), set.failure->what());
      } else if (fresh.size() < room) {
        fresh.push_back(std::move(set.name));
      } else {
        ++left_out;
      }
    }
  }
  left_out += names.size() - std::min(first, names.size());
  if (left_out != 0) {
    note(ErrorKind::Config, fmt::format("{} are followed, as max_sets allows; {} more of the store are not",
                                        format_count_of(pattern_.max_sets, "set"), format_count(left_out)));
  }
  return fresh;
}

// Names in the store that this pattern may take, with a current generation or not.
std::vector<std::string> FoundSets::strangers(Store& store, const LoaderConfig& config) {
  std::vector<std::string> names = names_of_stored_sets(store, pattern_.names());
  std::erase_if(names, [&](const std::string& name) {
    if (names_.contains(name) || config.names_set(name)) return true;
    const auto patterns = config.patterns_of(name);
    if (patterns.size() == 1) return false;
    note(ErrorKind::Config, fmt::format("{} is not followed, because {} and {} match it", name,
                                        patterns[0]->each.name, patterns[1]->each.name));
    return true;
  });
  return names;
}

void FoundSets::note(ErrorKind kind, const std::string& problem) {
  if (!first_problem_.empty()) {
    ++more_problems_;
    return;
  }
  first_problem_ = problem;
  exit_status_ = exit_status_of(kind);
}

PatternReport FoundSets::report() const {
  return {.pattern = pattern_.each.name,
          .store = pattern_.each.store,
          .sets = names_.size(),
          .max_sets = pattern_.max_sets,
          .reason = more_problems_ == 0
                        ? first_problem_
                        : fmt::format("{}; and {} like it", first_problem_, format_count(more_problems_)),
          .exit_status = exit_status_};
}

void FoundSets::say() {
  const std::string reason = report().reason;
  if (reason == said_) return;
  if (reason.empty()) {
    spdlog::info("{}: all is well again", pattern_.each.name);
  } else {
    spdlog::warn("{}: {}; sets that are followed stay so", pattern_.each.name, reason);
  }
  said_ = reason;
}

}  // namespace keysieve
