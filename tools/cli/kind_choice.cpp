#include "tools/cli/kind_choice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/worker/snapshot/layout.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

// How much more memory than the smallest a faster kind may take. The default's eight bits per key cost 1.6
// times ribbon at 1 %, 2.0 times at 0.01 %, and 3 times at 0.0001 %.
constexpr double kMostToSmallest = 2.0;

using Candidates = std::vector<const PlannedKind*>;

// Fewest cache lines; of equals the default, then the smallest.
auto slowness_of(const PlannedKind* planned) {
  return std::tuple(planned->cache_lines, planned->kind().name != kDefaultKindName, planned->bytes);
}

const PlannedKind* smallest_of(const Candidates& candidates) {
  return std::ranges::min(candidates, {},
                          [](const auto* one) { return std::tuple(one->bytes, slowness_of(one)); });
}

const PlannedKind* fastest_of(const Candidates& candidates) {
  return std::ranges::min(candidates, {}, slowness_of);
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

std::string reason_for(const PlannedKind* choice, const Candidates& candidates) {
  const PlannedKind* fastest = fastest_of(candidates);
  const PlannedKind* smallest = smallest_of(candidates);
  const bool is_fastest = choice->cache_lines == fastest->cache_lines;
  const bool is_smallest = choice->bytes == smallest->bytes;
  const auto percent_of_choice = [choice](const PlannedKind* other) {
    return std::lround(
        std::abs(100.0 * static_cast<double>(other->bytes) / static_cast<double>(choice->bytes) - 100.0));
  };
  std::string reason =
      fmt::format("{} ({} per lookup)", superlative_of(candidates.size() == 1, is_smallest, is_fastest),
                  format_count_of(choice->cache_lines, "cache line"));
  if (!is_fastest) {
    reason += fmt::format("; {} would be faster ({}) but take {} % more memory", fastest->kind().name,
                          format_count_of(fastest->cache_lines, "cache line"), percent_of_choice(fastest));
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
  const std::uint64_t bytes = snapshot_layout(geometry.shard_count, geometry.params).file_bytes;
  return {geometry, theoretical_fpr(geometry, keys), bytes,
          8.0 * static_cast<double>(bytes) / static_cast<double>(request.keys),
          kind.cache_lines(geometry.params, keys / geometry.shard_count)};
}

// Without a recommendation yet. Throws Usage for a value out of range.
Plan costs_of(const SizingRequest& request, bool all) {
  Plan plan;
  for (const FilterKind& kind : filter_kinds()) {
    if (!all && !kind.is_usual) continue;
    if (request.value_bits != 0 && kind.build_map == nullptr) continue;
    if (reaches_target(kind, request)) {
      plan.kinds.push_back(plan_kind(kind, request));
    } else {
      plan.too_high.emplace_back(kind.name, lowest_target(kind, request));
    }
  }
  return plan;
}

}  // namespace

Plan plan_kinds(const SizingRequest& request, bool all, bool smallest) {
  Plan plan = costs_of(request, all);
  std::vector<PlannedKind>& kinds = plan.kinds;
  Candidates candidates;
  for (const PlannedKind& one : kinds) {
    if (one.kind().is_usual) candidates.push_back(&one);
  }
  const PlannedKind* choice = smallest ? smallest_of(candidates) : fastest_that_fits(candidates);
  plan.reason = reason_for(choice, candidates);
  const auto chosen = kinds.begin() + (choice - kinds.data());
  std::rotate(kinds.begin(), chosen, chosen + 1);
  return plan;
}

}  // namespace keysieve
