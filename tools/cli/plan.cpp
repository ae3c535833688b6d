// keysieve plan: what each kind costs for a number of keys and an FPR, and which to choose. Writes nothing.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "core/builder/filters/sizing.hpp"
#include "core/worker/snapshot/layout.hpp"
#include "tools/cli/verb.hpp"

namespace keysieve {
namespace {

// What a kind would cost.
struct PlannedKind {
  Geometry geometry;
  double theoretical_fpr;
  std::uint64_t bytes;  // of the file
  double bits_per_key;  // of the file
  std::uint32_t cache_lines;

  [[nodiscard]] const FilterKind& kind() const noexcept { return *geometry.kind; }
};

struct Plan {
  std::vector<PlannedKind> kinds;  // the recommended one first
  std::string reason;              // part of a sentence: "the fastest of ..."
  // Kinds that cannot reach the target, and the lowest that they reach.
  std::vector<std::pair<std::string_view, double>> too_high;
};

// How much more memory than the smallest a faster kind may take. The default's eight bits per key cost 1.6
// times ribbon at 1 %, 2.0 times at 0.01 %, and 3 times at 0.0001 %.
constexpr double kMostToSmallest = 2.0;

// Of the usual kinds that do not need far more memory than the smallest of them, the one with the fewest
// cache lines; among equals the default, then the smallest.
const PlannedKind* recommended_of(const std::vector<PlannedKind>& kinds) {
  std::vector<const PlannedKind*> candidates;
  for (const PlannedKind& one : kinds) {
    if (one.kind().is_usual) candidates.push_back(&one);
  }
  const std::uint64_t smallest = std::ranges::min(candidates, {}, &PlannedKind::bytes)->bytes;
  const double most = kMostToSmallest * static_cast<double>(smallest);
  std::erase_if(candidates, [most](const auto* one) { return static_cast<double>(one->bytes) > most; });
  return std::ranges::min(candidates, {}, [](const auto* one) {
    return std::tuple(one->cache_lines, one->kind().name != kDefaultKindName, one->bytes);
  });
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

// The others are in it if they are usual, or with `all`. Throws Usage for a value out of range.
Plan plan_kinds(const SizingRequest& request, bool all) {
  Plan plan = costs_of(request, all);
  std::vector<PlannedKind>& kinds = plan.kinds;
  const PlannedKind* choice = recommended_of(kinds);
  plan.reason =
      fmt::format("the fastest of those that take at most twice the memory of the smallest ({} per lookup)",
                  format_count_of(choice->cache_lines, "cache line"));
  const auto chosen = kinds.begin() + (choice - kinds.data());
  std::rotate(kinds.begin(), chosen, chosen + 1);
  return plan;
}

double bound_bits_per_key(const SizingRequest& request) {
  return request.value_bits - std::log2(request.target_fpr);
}

Json to_json(const PlannedKind& planned, bool recommended) {
  const FilterKind& kind = planned.kind();
  return {{"kind", kind.name},
          {"recommended", recommended},
          {"bits_per_key", planned.bits_per_key},
          {"hash_count", planned.geometry.params.hash_count},
          {"shard_count", planned.geometry.shard_count},
          {"bytes", planned.bytes},
          {"theoretical_fpr", planned.theoretical_fpr},
          {"cache_lines", planned.cache_lines},
          {"summary", kind.summary}};
}

void print_as_json(const Plan& plan, const SizingRequest& request) {
  Json kinds = Json::array();
  for (const PlannedKind& planned : plan.kinds) kinds.push_back(to_json(planned, kinds.empty()));
  Json too_high = Json::array();
  for (const auto& [kind, lowest] : plan.too_high)
    too_high.push_back({{"kind", kind}, {"lowest_fpr", lowest}});
  print_json({{"key_count", request.keys},
              {"target_fpr", request.target_fpr},
              {"growth", request.growth},
              {"known_absent_count", request.known_absent},
              {"value_bits", request.value_bits},
              {"shard_bytes", request.shard_bytes},
              {"reason", plan.reason},
              {"bound_bits_per_key", bound_bits_per_key(request)},
              {"kinds", kinds},
              {"too_high", too_high}});
}

void print_as_text(const Plan& plan, const SizingRequest& request) {
  fmt::print("{} at a target FPR of {}, in shards of {}", format_count_of(request.keys, "key"),
             format_share(request.target_fpr), format_bytes(request.shard_bytes));
  if (request.known_absent != 0)
    fmt::print(", with {} that answer absent for certain",
               format_count_of(request.known_absent, "known-absent key"));
  if (request.value_bits != 0) fmt::print(", with values of {}", format_count_of(request.value_bits, "bit"));
  if (request.growth > 1.0) fmt::print(", with room for {} times the keys", request.growth);
  fmt::print(":\n{}, {}.\n\n", plan.kinds.front().kind().name, plan.reason);

  Table table({"", "kind", "bits/key", "shards", "size", "theoretical FPR", "lookup"});
  for (const PlannedKind& planned : plan.kinds) {
    const FilterKind& kind = planned.kind();
    table.add({&planned == &plan.kinds.front() ? "*" : "", std::string(kind.name),
               format_bits_per_key(planned.bits_per_key), format_count(planned.geometry.shard_count),
               format_bytes(planned.bytes), format_share(planned.theoretical_fpr),
               format_count_of(planned.cache_lines, "cache line")});
  }
  table.print();
  if (request.known_absent != 0)
    fmt::print(
        "\nKnown-absent keys are absent without exception; the theoretical FPR is that of all other keys.");
  if (request.value_bits != 0)
    fmt::print("\nThe theoretical FPR is that of other keys, which then have a wrong value.");
  fmt::print("\nSize and bits/key count the whole file; no filter can need less than {:.2f} bits/key.\n",
             bound_bits_per_key(request));
  std::vector<std::string> too_high;
  for (const auto& [kind, lowest] : plan.too_high)
    too_high.push_back(fmt::format("{} ({})", kind, format_share(lowest)));
  if (!too_high.empty())
    fmt::print("Not shown, because they cannot reach this FPR in such shards (their lowest): {}.\n",
               fmt::join(too_high, ", "));
}

// Bits of the largest value.
std::uint8_t parse_largest_value(const std::string& text) {
  const std::uint64_t largest = parse_count(text);
  if (largest > UINT32_MAX)
    throw Error(ErrorKind::Usage, fmt::format("{} is out of range: 0 to {}", largest, UINT32_MAX));
  return static_cast<std::uint8_t>(std::bit_width(std::max<std::uint64_t>(largest, 1)));
}

class PlanVerb {
 public:
  void declare(CLI::App* verb) {
    add_parsed(verb, "--keys N", request_.keys, parse_key_count,
               "Number of distinct keys, 1 or more: 80000, 80k or 5M")
        ->required();
    add_parsed(verb, "--known-absent N", request_.known_absent, parse_key_count,
               "Number of known-absent keys, to which the set answers absent without exception [0]");
    add_parsed(verb, "--values N", request_.value_bits, parse_largest_value,
               "For a map: the largest value of a key, a number from 0 to 4294967295");
    add_fpr_and_growth(verb, request_.target_fpr, request_.growth);
    add_parsed(verb, "--shard-size SIZE", request_.shard_bytes, parse_shard_bytes,
               "1KiB, 2KiB, 4KiB or 8KiB [4KiB]");
    verb->add_flag("--all", all_, "Show every kind, including those for comparison");
  }

  int run() {
    if (request_.keys == 0) throw Error(ErrorKind::Usage, "--keys: 0 is too few: at least 1");
    const Plan plan = plan_kinds(request_, all_);
    is_said_as_json() ? print_as_json(plan, request_) : print_as_text(plan, request_);
    return 0;
  }

 private:
  SizingRequest request_;
  bool all_ = false;
};

}  // namespace

extern const Verb kPlan{"plan", "Show what a set would cost, and which kind to choose",
                        "  keysieve plan --keys 80000 --fpr 0.01\n"
                        "  keysieve plan --keys 5000000 --fpr 0.1% --growth 2 --all\n"
                        "  keysieve plan --keys 80000 --known-absent 2M\n"
                        "  keysieve plan --keys 450000 --values 65535 --fpr 0.1%\n"
                        "  keysieve plan --keys 80000 --shard-size 8KiB --json",
                        prepare<PlanVerb>};

}  // namespace keysieve
