// keysieve plan: what each kind costs for a number of keys and an FPR, and which to choose. Writes nothing.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <tuple>

#include "core/builder/filters/sizing.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/snapshot/layout.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

// How much more memory than the smallest a faster kind may take. The default's eight bits per key cost 1.6
// times ribbon at 1 %, 2.0 times at 0.01 %, and 3 times at 0.0001 %.
constexpr double kMostToSmallest = 2.0;

struct PlanOptions {
  SizingRequest request;
  std::optional<std::uint64_t> largest_value;  // of a map
  bool smallest = false;
  bool all = false;
  bool plot = false;
};

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
  std::string reason;              // part of a sentence: "the fastest that ..."
  // Kinds that cannot reach the target, and the lowest that they reach.
  std::vector<std::pair<std::string_view, double>> too_high;
};

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
Plan plan_kinds(const SizingRequest& request, bool all) {
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

// The fastest usual kind that does not need far more memory than the smallest.
Plan made_plan(const PlanOptions& options) {
  Plan plan = plan_kinds(options.request, options.all);
  std::vector<PlannedKind>& kinds = plan.kinds;
  Candidates candidates;
  for (const PlannedKind& one : kinds) {
    if (one.kind().is_usual) candidates.push_back(&one);
  }
  const PlannedKind* choice = options.smallest ? smallest_of(candidates) : fastest_that_fits(candidates);
  plan.reason = reason_for(choice, candidates);
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

struct Point {
  double x;
  double y;
};

// Lines of gnuplot's data; the empty ones end a block.
std::string block_of(const std::vector<Point>& points) {
  std::string block;
  for (const Point& point : points) block += fmt::format("{:.6g} {:.6g}\n", point.x, point.y);
  return block + "\n\n";
}

// In percent, as the axis.
std::string share_text(double share) {
  return fmt::format("{:.3g} %", 100 * share);
}

// The lowest FPR that the kind reaches with that many keys, with any k.
double least_fpr(const FilterKind& kind, const SizingRequest& request, double keys_per_shard) {
  double least = 1.0;
  for (const std::uint8_t k : kind.hash_counts) {
    const FilterParams params{.shard_bytes = request.shard_bytes, .hash_count = k};
    least = std::min(least, kind.theoretical_fpr(params, keys_per_shard));
  }
  return least;
}

// FPR in percent and bits per key: starts at few bits and stops when the FPR is out of sight.
std::vector<Point> curve_of(const FilterKind& kind, const SizingRequest& request, double last_fpr) {
  constexpr double kStep = 1.02;
  constexpr double kMostBits = 200;
  std::vector<Point> points;
  for (double bits = 1.0; bits < kMostBits; bits *= kStep) {
    points.push_back({100 * least_fpr(kind, request, 8.0 * request.shard_bytes / bits), bits});
    if (points.back().x < 100 * last_fpr) break;
  }
  return points;
}

// Bits per key against FPR for every kind, with the bound that no filter can pass: what a lower FPR costs.
std::string bits_per_key(const SizingRequest& request, const PlannedKind& recommended) {
  const double first_fpr = std::max(0.2, request.target_fpr);
  const double last_fpr = std::clamp(request.target_fpr / 10, kMinFpr, 1e-4);
  std::string data;
  std::string curves;
  double most_bits = 0.0;
  std::size_t index = 0;
  for (const FilterKind& kind : filter_kinds()) {
    const std::vector<Point> curve = curve_of(kind, request, last_fpr);
    most_bits = std::max(most_bits, curve.back().y);
    data += block_of(curve);
    curves += fmt::format(
        "  $kinds index {} with lines linewidth 2 linecolor rgb hsv2rgb({:.3f}, 1, 0.8) dashtype {} title "
        "'{}', \\\n",
        index, static_cast<double>(index) / static_cast<double>(filter_kinds().size()), kind.is_usual ? 1 : 2,
        kind.name);
    ++index;
  }
  const double highest = std::ceil(std::min(most_bits, -2.2 * std::log2(last_fpr)));
  return fmt::format(
      "$kinds << end\n{}end\n"
      "$target << end\n{}end\n"
      "$recommended << end\n{}end\n"
      "set title 'Bits per key against FPR, in shards of {}'\n"
      "set xlabel 'FPR'\n"
      "set ylabel 'bits per key'\n"
      "set format x '%g %%'\n"
      "set key outside right top\n"
      "plot [{:.6g}:{:.6g}] [0:{}] \\\n"
      "{}"
      "  -log(x / 100) / log(2) with lines linecolor 'gray50' title 'bound: log2(1 / FPR)', \\\n"
      "  $target with lines linecolor 'black' dashtype 3 title 'target: {}', \\\n"
      "  $recommended with points pointtype 7 linecolor 'black' title 'recommended: {}'\n",
      data, block_of({{100 * request.target_fpr, 0.0}, {100 * request.target_fpr, highest}}),
      block_of(
          {{100 * std::clamp(recommended.theoretical_fpr, last_fpr, first_fpr), recommended.bits_per_key}}),
      format_bytes(request.shard_bytes), 100 * first_fpr, 100 * last_fpr, highest, curves,
      share_text(request.target_fpr), recommended.kind().name);
}

// Shows loads whose FPR at the best k is in a range about the target.
struct Window {
  double lowest_fpr;
  double highest_fpr;
};

Window window_about(double target_fpr) {
  return {std::max(target_fpr / 40, kMinFpr / 10), std::min(target_fpr * 40, 0.7)};
}

// The target, then 1 and 3 times the powers of ten within the window; leaves out levels that would crowd it.
std::vector<double> levels_in(const Window& window, double target_fpr) {
  std::vector<double> levels{target_fpr};
  for (double power = kMinFpr / 100; power < 1.0; power *= 10) {
    for (const double level : {power, 3 * power}) {
      const double ratio = level / target_fpr;
      const bool crowds = ratio > 0.6 && ratio < 1.6;
      if (!crowds && level > window.lowest_fpr && level < window.highest_fpr) levels.push_back(level);
    }
  }
  return levels;
}

// Where the FPR is `fpr`: the keys per shard for each k, ascending.
std::vector<Point> contour_of(const Geometry& planned, double fpr, double highest_k) {
  std::vector<Point> points;
  FilterParams params = planned.params;
  for (const std::uint8_t k : planned.kind->hash_counts) {
    if (k > highest_k) break;
    params.hash_count = k;
    points.push_back({most_keys_per_shard(*planned.kind, params, fpr), static_cast<double>(k)});
  }
  return points;
}

bool has_fewer_keys(const Point& a, const Point& b) {
  return a.x < b.x;
}

// The best k is where the contour holds the most keys.
Point best_of(const std::vector<Point>& contour) {
  return *std::max_element(contour.begin(), contour.end(), has_fewer_keys);
}

// FPR over keys per shard and k, for one kind and shard size: which k suits which load. A dot shows what is
// planned.
std::string contours(const Geometry& planned, double keys, double target_fpr) {
  const Window window = window_about(target_fpr);
  const double lowest_k = planned.kind->hash_counts.front();
  const double most_k = planned.kind->hash_counts.back();
  const Point sparsest = best_of(contour_of(planned, window.lowest_fpr, most_k));
  const Point densest = best_of(contour_of(planned, window.highest_fpr, most_k));
  const double highest_k = std::min(sparsest.y + 4, most_k);
  const Point mark{keys / planned.shard_count, static_cast<double>(planned.params.hash_count)};
  std::string data;
  std::string labels;
  std::vector<Point> best;
  for (const double fpr : levels_in(window, target_fpr)) {
    const std::vector<Point> contour = contour_of(planned, fpr, highest_k + 1);
    data += block_of(contour);
    best.push_back(best_of(contour));
    for (const Point& point : contour) {
      if (point.y == highest_k - 1)
        labels += fmt::format("{:.6g} {} \"{}\"\n", point.x, point.y, share_text(fpr));
    }
  }
  std::sort(best.begin(), best.end(), has_fewer_keys);
  return fmt::format(
      "$contours << end\n{}end\n"
      "$best << end\n{}end\n"
      "$labels << end\n{}end\n"
      "$planned << end\n{}end\n"
      "set title 'FPR of {} in shards of {}: each line has the keys per shard that give it'\n"
      "set xlabel 'keys per shard'\n"
      "set ylabel 'k, bits set per key'\n"
      "set format x '%g'\n"
      "set xtics (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000)\n"
      "set key below\n"
      "plot [{:.6g}:{:.6g}] [{}:{}] \\\n"
      "  $contours with lines linecolor 'gray50' notitle, \\\n"
      "  $contours index 0 with lines linewidth 3 linecolor 1 title 'target: {}', \\\n"
      "  $best with lines linecolor 'black' dashtype 3 title 'best k', \\\n"
      "  $planned with points pointtype 7 linecolor 'black' title 'planned: {:.0f} keys with k = {}', \\\n"
      "  $labels with labels boxed notitle\n",
      data, block_of(best), labels, block_of({mark}), planned.kind->name,
      format_bytes(planned.params.shard_bytes), sparsest.x, densest.x, lowest_k - 0.5, highest_k + 0.5,
      share_text(target_fpr), mark.x, mark.y);
}

// What --plot prints: data and commands for gnuplot 5, without a terminal, which the user chooses. Two plots,
// one above the other: bits per key of every kind, dashed where it is not usual, with a dot for the
// recommended one; FPR contours of `bloom`, the kind in which k is free. Throws Usage for a value out of
// range.
std::string plan_plot(const SizingRequest& request, const PlannedKind& recommended) {
  const Geometry contoured = size_filter(filter_kind_named("bloom"), request);
  return fmt::format(
      "set termoption noenhanced\n"
      "set style textbox opaque noborder\n"
      "set logscale x\n"
      "set grid\n"
      "set multiplot layout 2,1 title 'keysieve plan: {} keys'\n"
      "{}{}"
      "unset multiplot\n",
      format_count(request.keys), bits_per_key(request, recommended),
      contours(contoured, static_cast<double>(request.keys) * request.growth, request.target_fpr));
}

// Bits of the largest value.
std::uint8_t value_bits_of(std::uint64_t largest) {
  if (largest > UINT32_MAX) {
    throw Error(ErrorKind::Usage, fmt::format("--values: {} is out of range: 0 to {}", largest, UINT32_MAX));
  }
  return static_cast<std::uint8_t>(std::bit_width(std::max<std::uint64_t>(largest, 1)));
}

void plan(PlanOptions options) {
  if (options.largest_value) options.request.value_bits = value_bits_of(*options.largest_value);
  if (options.request.keys == 0) throw Error(ErrorKind::Usage, "--keys: 0 is too few: at least 1");
  const Plan plan = made_plan(options);
  if (options.plot) return fmt::print("{}", plan_plot(options.request, plan.kinds.front()));
  is_said_as_json() ? print_as_json(plan, options.request) : print_as_text(plan, options.request);
}

}  // namespace

void add_plan(CLI::App& program, VerbResult& /*result*/) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* verb = add_verb(program, "plan", "Show what a set would cost, and which kind to choose",
                            "  keysieve plan --keys 80000 --fpr 0.01\n"
                            "  keysieve plan --keys 5000000 --fpr 0.1% --growth 2 --all\n"
                            "  keysieve plan --keys 5000000 --smallest --plot | gnuplot -p\n"
                            "  keysieve plan --keys 80000 --known-absent 2M\n"
                            "  keysieve plan --keys 450000 --values 65535 --fpr 0.1%\n"
                            "  keysieve plan --keys 80000 --shard-size 8KiB --json");
  add_parsed(verb, "--keys", options->request.keys, parse_key_count,
             "Number of distinct keys, 1 or more: 80000, 80k or 5M")
      ->required()
      ->type_name("N");
  add_parsed(verb, "--fpr", options->request.target_fpr, parse_share,
             "Target FPR: 1e-9 to 0.5, or in %; below 1e-6 not every kind [0.01]")
      ->type_name("FPR");
  add_parsed(verb, "--known-absent", options->request.known_absent, parse_key_count,
             "Number of known-absent keys, to which the set answers absent without exception [0]")
      ->type_name("N");
  add_parsed(verb, "--values", options->largest_value, parse_count,
             "For a map: the largest value of a key, a number from 0 to 4294967295")
      ->type_name("N");
  verb->add_option("--growth", options->request.growth, "Room for that many times the keys: 1 to 100")
      ->type_name("FACTOR")
      ->capture_default_str();
  add_parsed(verb, "--shard-size", options->request.shard_bytes, parse_shard_bytes,
             "1KiB, 2KiB, 4KiB or 8KiB [4KiB]")
      ->type_name("SIZE");
  verb->add_flag(
      "--smallest", options->smallest,
      "Recommend the smallest kind, instead of the fastest of those that take at most twice as much");
  verb->add_flag("--all", options->all, "Show every kind, including those for comparison");
  verb->add_flag("--plot", options->plot,
                 "Print data and commands for gnuplot instead: bits per key of every kind over FPR, with the "
                 "recommended one, and FPR of bloom over keys per shard and k")
      ->excludes(verb->get_option("--known-absent"))
      ->excludes(verb->get_option("--values"))
      ->excludes(verb->get_option("--json"));
  verb->callback([options] { plan(*options); });
}

}  // namespace keysieve
