#include "tools/cli/planned_kind.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "core/snapshot/layout.hpp"

namespace keysieve {
namespace {

constexpr std::array<std::string_view, 4> kUsualKinds{"split_block_bloom", "bloom", "cuckoo", "ribbon"};

// How much more memory than the smallest a faster kind may take. The default's eight bits per key cost 1.1
// times bloom at 1 %, 1.4 times at 0.01 %, and 2.4 times at 0.0001 %.
constexpr double kMostToSmallest = 1.5;

using Candidates = std::vector<const PlannedKind*>;

bool serves(const FilterKind& kind, Need need) {
  switch (need) {
    case Need::Adds:
      return kind.can_add();
    case Need::Deletes:
      return kind.can_remove() || kind.can_count();
    case Need::Static:
      return true;
  }
  return false;
}

std::string_view description_of(Need need) {
  switch (need) {
    case Need::Adds:
      return " that keys can be added to";
    case Need::Deletes:
      return " that keys can be removed from";
    case Need::Static:
      return "";
  }
  return "";
}

// Fewest cache lines; of equals the default, then the smallest.
bool is_faster(const PlannedKind* a, const PlannedKind* b) {
  const auto rank = [](const PlannedKind* planned) {
    return std::tuple(planned->cache_lines, planned->kind().name != kDefaultKindName, planned->bytes);
  };
  return rank(a) < rank(b);
}

Candidates candidates_among(const std::vector<PlannedKind>& planned, Need need) {
  Candidates candidates;
  for (const PlannedKind& one : planned) {
    if (is_usual(one.kind()) && serves(one.kind(), need)) candidates.push_back(&one);
  }
  return candidates;
}

const PlannedKind* smallest_of(const Candidates& candidates) {
  return *std::min_element(candidates.begin(), candidates.end(), [](const auto* a, const auto* b) {
    return a->bytes != b->bytes ? a->bytes < b->bytes : is_faster(a, b);
  });
}

const PlannedKind* fastest_of(const Candidates& candidates) {
  return *std::min_element(candidates.begin(), candidates.end(), is_faster);
}

const PlannedKind* fastest_that_fits(Candidates candidates) {
  const double most = kMostToSmallest * static_cast<double>(smallest_of(candidates)->bytes);
  std::erase_if(candidates, [most](const auto* one) { return static_cast<double>(one->bytes) > most; });
  return fastest_of(candidates);
}

std::string_view superlative_of(bool is_only, bool is_smallest, bool is_fastest) {
  if (is_only) return "the only one";
  if (is_smallest) return is_fastest ? "the smallest and fastest" : "the smallest";
  return is_fastest ? "the fastest" : "the fastest that is not far from the smallest";
}

std::string reason_for(const PlannedKind* choice, const Candidates& candidates, Need need) {
  const PlannedKind* fastest = fastest_of(candidates);
  const PlannedKind* smallest = smallest_of(candidates);
  const bool is_fastest = choice->cache_lines == fastest->cache_lines;
  const bool is_smallest = choice->bytes == smallest->bytes;
  const auto percent_of_choice = [choice](const PlannedKind* other) {
    return std::lround(
        std::abs(100.0 * static_cast<double>(other->bytes) / static_cast<double>(choice->bytes) - 100.0));
  };
  std::string reason =
      fmt::format("{}{} ({} per lookup)", superlative_of(candidates.size() == 1, is_smallest, is_fastest),
                  description_of(need), format_cache_lines(choice->cache_lines));
  if (need == Need::Deletes && !choice->kind().can_remove()) reason += ", built with --counting";
  if (!is_fastest) {
    reason += fmt::format("; {} would be faster ({}) but take {} % more memory", fastest->kind().name,
                          format_cache_lines(fastest->cache_lines), percent_of_choice(fastest));
  }
  if (!is_smallest) {
    reason +=
        fmt::format("; {} would take {} % less memory", smallest->kind().name, percent_of_choice(smallest));
  }
  return reason;
}

PlannedKind plan_kind(const FilterKind& kind, const SizingRequest& request) {
  const Geometry geometry = size_filter(kind, request);
  const double keys = static_cast<double>(request.keys) * request.growth;
  const std::uint64_t bytes = snapshot_layout(geometry.shard_count, geometry.params.shard_bytes).file_bytes;
  return {geometry, theoretical_fpr(geometry, keys), bytes,
          8.0 * static_cast<double>(bytes) / static_cast<double>(request.keys),
          kind.cache_lines(geometry.params, keys / geometry.shard_count)};
}

}  // namespace

bool is_usual(const FilterKind& kind) {
  return std::find(kUsualKinds.begin(), kUsualKinds.end(), kind.name) != kUsualKinds.end();
}

std::vector<PlannedKind> plan_kinds(const SizingRequest& request, bool all) {
  std::vector<PlannedKind> planned;
  for (const FilterKind& kind : filter_kinds()) {
    if (all || is_usual(kind)) planned.push_back(plan_kind(kind, request));
  }
  return planned;
}

Recommendation recommend(const std::vector<PlannedKind>& planned, Need need) {
  const Candidates candidates = candidates_among(planned, need);
  const PlannedKind* choice = need == Need::Adds ? fastest_that_fits(candidates) : smallest_of(candidates);
  return {choice, reason_for(choice, candidates, need)};
}

std::string format_cache_lines(std::uint32_t lines) {
  return fmt::format("{} cache {}", lines, lines == 1 ? "line" : "lines");
}

}  // namespace keysieve
