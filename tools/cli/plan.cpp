// keysieve plan: what each kind costs for a number of keys and an FPR. Touches nothing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/base/error.hpp"
#include "core/filters/sizing.hpp"
#include "core/snapshot/layout.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/verbs.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

// What is shown without --all: the kinds that somebody would choose.
constexpr std::array<std::string_view, 4> kUsualKinds{"split_block_bloom", "bloom", "cuckoo", "ribbon"};

struct PlanOptions {
  SizingRequest request;
  bool deletes = false;
  bool is_static = false;
  bool all = false;
  bool json = false;
};

struct Row {
  Geometry geometry;
  double theoretical_fpr;
  std::uint64_t bytes;
  double bits_per_key;
  bool recommended;
};

bool is_shown(const FilterKind& kind, const PlanOptions& options) {
  const bool usual = std::find(kUsualKinds.begin(), kUsualKinds.end(), kind.name) != kUsualKinds.end();
  const bool serves =
      (options.is_static || options.all || kind.can_add()) && (!options.deletes || kind.can_remove());
  return serves && (options.all || usual);
}

// The fastest that serves: all but the default are slower, and cuckoo alone can remove.
std::string_view recommended_kind(const PlanOptions& options) {
  return options.deletes ? "cuckoo" : kDefaultKindName;
}

Row row_of(const FilterKind& kind, const PlanOptions& options) {
  const SizingRequest& request = options.request;
  const Geometry geometry = size_filter(kind, request);
  const double keys = static_cast<double>(request.keys) * request.growth;
  const std::uint64_t bytes = snapshot_layout(geometry.shard_count, geometry.params.shard_bytes).file_bytes;
  return {geometry, theoretical_fpr(geometry, keys), bytes,
          8.0 * static_cast<double>(bytes) / static_cast<double>(request.keys),
          kind.name == recommended_kind(options)};
}

Json to_json(const Row& row) {
  const FilterKind& kind = *row.geometry.kind;
  return {{"kind", kind.name},
          {"recommended", row.recommended},
          {"bits_per_key", row.bits_per_key},
          {"hash_count", row.geometry.params.hash_count},
          {"shard_count", row.geometry.shard_count},
          {"bytes", row.bytes},
          {"theoretical_fpr", row.theoretical_fpr},
          {"can_add", kind.can_add()},
          {"can_remove", kind.can_remove()},
          {"summary", kind.summary}};
}

void print_rows(const std::vector<Row>& rows, const SizingRequest& request) {
  fmt::print("{} keys at a target FPR of {}, in shards of {}", format_count(request.keys),
             format_share(request.target_fpr), format_bytes(request.shard_bytes));
  if (request.growth > 1.0) fmt::print(", with room for {} times the keys", request.growth);
  fmt::print(":\n\n");
  Table table({"", "kind", "bits/key", "k", "shards", "size", "theoretical FPR", ""});
  for (const Row& row : rows) {
    table.add({row.recommended ? "*" : "", std::string(row.geometry.kind->name),
               fmt::format("{:.2f}", row.bits_per_key), std::to_string(row.geometry.params.hash_count),
               format_count(row.geometry.shard_count), format_bytes(row.bytes),
               format_share(row.theoretical_fpr), std::string(row.geometry.kind->summary)});
  }
  table.print();
  fmt::print(
      "\n* recommended. Size and bits/key count the whole file; no filter can do with less than {:.2f} "
      "bits/key.\n",
      -std::log2(request.target_fpr));
}

void plan(const PlanOptions& options) {
  if (options.request.keys == 0) throw UsageError("--keys must be at least 1");
  std::vector<Row> rows;
  for (const FilterKind& kind : filter_kinds()) {
    if (is_shown(kind, options)) rows.push_back(row_of(kind, options));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.recommended > b.recommended; });
  if (!options.json) return print_rows(rows, options.request);
  Json kinds = Json::array();
  for (const Row& row : rows) kinds.push_back(to_json(row));
  print_json({{"keys", options.request.keys},
              {"target_fpr", options.request.target_fpr},
              {"growth", options.request.growth},
              {"shard_bytes", options.request.shard_bytes},
              {"kinds", kinds}});
}

}  // namespace

void add_plan(CLI::App& program, Outcome& /*outcome*/) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* verb =
      add_verb(program, "plan", "Show what a set would cost: kind, shards, bytes, false-positive rate",
               "  keysieve plan --keys 80000 --fpr 0.01\n"
               "  keysieve plan --keys 5000000 --fpr 0.1% --growth 2 --all\n"
               "  keysieve plan --keys 80000 --shard-size 8KiB --json");
  add_parsed(verb, "--keys", options->request.keys, parse_count, "Number of distinct keys, 1 or more")
      ->required()
      ->type_name("N");
  add_parsed(verb, "--fpr", options->request.target_fpr, parse_share,
             "Target FPR: 0.000001 to 0.5, or in % [0.01]")
      ->type_name("FPR");
  verb->add_option("--growth", options->request.growth, "Room for that many times the keys: 1 to 100")
      ->type_name("FACTOR")
      ->capture_default_str();
  add_parsed(verb, "--shard-size", options->request.shard_bytes, parse_shard_bytes,
             "1KiB, 2KiB, 4KiB or 8KiB [4KiB]")
      ->type_name("SIZE");
  add_effort(verb, options->request.effort);
  verb->add_flag("--deletes", options->deletes, "Only kinds that keys can be removed from");
  verb->add_flag("--static", options->is_static, "Also kinds that nothing can be added to");
  verb->add_flag("--all", options->all, "Every kind, the ones for comparison too");
  add_json(verb, options->json);
  verb->callback([options] { plan(*options); });
}

}  // namespace keysieve
