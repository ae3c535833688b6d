// keysieve plan: what each kind costs for a number of keys and an FPR, and which to choose. Writes nothing
// but the picture of --svg.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/error.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/planned_kind.hpp"
#include "tools/cli/print_json.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/verbs.hpp"
#include "tools/plot/plan_svg.hpp"
#include "tools/program/durable_file.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

struct PlanOptions {
  SizingRequest request;
  bool deletes = false;
  bool is_static = false;
  bool all = false;
  std::string svg_path;
  bool json = false;

  [[nodiscard]] Need need() const noexcept {
    if (deletes) return Need::Deletes;
    return is_static ? Need::Static : Need::Adds;
  }
};

struct Plan {
  std::vector<PlannedKind> kinds;  // the recommended one first
  std::string reason;
};

Plan made_plan(const PlanOptions& options) {
  std::vector<PlannedKind> kinds = plan_kinds(options.request, options.all);
  const auto [choice, reason] = recommend(kinds, options.need());
  const auto chosen = kinds.begin() + (choice - kinds.data());
  std::rotate(kinds.begin(), chosen, chosen + 1);
  const bool has_no_room = kinds.front().kind().capacity != nullptr && options.request.growth == 1.0;
  return {std::move(kinds), has_no_room ? reason + "; without --growth it has no room for new keys" : reason};
}

double bound_bits_per_key(const SizingRequest& request) {
  return -std::log2(request.target_fpr);
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
          {"can_add", kind.can_add()},
          {"can_remove", kind.can_remove()},
          {"can_count", kind.can_count()},
          {"summary", kind.summary}};
}

void print_as_json(const Plan& plan, const SizingRequest& request) {
  Json kinds = Json::array();
  for (const PlannedKind& planned : plan.kinds) kinds.push_back(to_json(planned, kinds.empty()));
  print_json({{"keys", request.keys},
              {"target_fpr", request.target_fpr},
              {"growth", request.growth},
              {"shard_bytes", request.shard_bytes},
              {"reason", plan.reason},
              {"bound_bits_per_key", bound_bits_per_key(request)},
              {"kinds", kinds}});
}

std::string_view removal_from(const FilterKind& kind) {
  if (kind.can_remove()) return "yes";
  return kind.can_count() ? "--counting" : "no";
}

void print_as_text(const Plan& plan, const SizingRequest& request) {
  fmt::print("{} keys at a target FPR of {}, in shards of {}", format_count(request.keys),
             format_share(request.target_fpr), format_bytes(request.shard_bytes));
  if (request.growth > 1.0) fmt::print(", with room for {} times the keys", request.growth);
  fmt::print(":\n{}, {}.\n\n", plan.kinds.front().kind().name, plan.reason);

  Table table({"", "kind", "bits/key", "shards", "size", "theoretical FPR", "lookup", "add", "remove"});
  for (const PlannedKind& planned : plan.kinds) {
    const FilterKind& kind = planned.kind();
    table.add({&planned == &plan.kinds.front() ? "*" : "", std::string(kind.name),
               fmt::format("{:.2f}", planned.bits_per_key), format_count(planned.geometry.shard_count),
               format_bytes(planned.bytes), format_share(planned.theoretical_fpr),
               format_cache_lines(planned.cache_lines), kind.can_add() ? "yes" : "no",
               std::string(removal_from(kind))});
  }
  table.print();
  fmt::print("\nSize and bits/key count the whole file; no filter can do with less than {:.2f} bits/key.\n",
             bound_bits_per_key(request));
}

void plan(const PlanOptions& options) {
  if (options.request.keys == 0) throw Error(ErrorKind::Usage, "--keys must be at least 1");
  const Plan plan = made_plan(options);
  if (!options.svg_path.empty()) {
    write_durable_file(options.svg_path, as_bytes(plan_svg(options.request, is_usual)));
  }
  options.json ? print_as_json(plan, options.request) : print_as_text(plan, options.request);
}

}  // namespace

void add_plan(CLI::App& program, Outcome& /*outcome*/) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* verb = add_verb(program, "plan", "Show what a set would cost, and which kind to choose",
                            "  keysieve plan --keys 80000 --fpr 0.01\n"
                            "  keysieve plan --keys 5000000 --fpr 0.1% --growth 2 --all\n"
                            "  keysieve plan --keys 5000000 --static --svg fpr.svg\n"
                            "  keysieve plan --keys 80000 --shard-size 8KiB --json");
  add_parsed(verb, "--keys", options->request.keys, parse_key_count,
             "Number of distinct keys, 1 or more: 80000, 80k or 5M")
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
  CLI::Option* deletes =
      verb->add_flag("--deletes", options->deletes, "Keys are removed from the set as well as added to it");
  verb->add_flag("--static", options->is_static, "Nothing is added to the set or removed: it is built anew")
      ->excludes(deletes);
  verb->add_flag("--all", options->all, "Every kind, the ones for comparison too");
  verb->add_option(
          "--svg", options->svg_path,
          "Draw a picture for a browser: FPR over keys per shard and k, and bits per key of every kind "
          "over FPR")
      ->type_name("FILE.svg");
  add_json(verb, options->json);
  verb->callback([options] { plan(*options); });
}

}  // namespace keysieve
