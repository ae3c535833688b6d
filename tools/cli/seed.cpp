// keysieve seed: the seed that the sets of a store share, and a new one in its place.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/verbs.hpp"
#include "tools/transfer/chunk.hpp"
#include "tools/transfer/shared_seed.hpp"

namespace keysieve {
namespace {

struct SeedOptions {
  std::string store_url;
  bool renew = false;
  bool json = false;
};

void show(Store& store, const std::optional<HashSeed>& seed, bool as_json) {
  Report report;
  report.add("store", store.name(), "store", store.name());
  if (!seed) {
    report.add("seed", "none yet; the first build --like this store draws one", "seed", nullptr);
    report.add_member("sets_of_other_seeds", Json::array());
    return report.print(as_json);
  }
  report.add("seed", to_hex(*seed), "seed", to_hex(*seed));
  if (!store.abilities().list) {
    report.add_member("sets_of_other_seeds", nullptr);
    return report.print(as_json);
  }
  const std::vector<std::string> others = sets_of_other_seeds(store, *seed);
  report.add("sets with other seeds", others.empty() ? "none" : fmt::format("{}", fmt::join(others, ", ")),
             "sets_of_other_seeds", others);
  report.print(as_json);
}

void seed(const SeedOptions& options) {
  const auto store = options.renew ? open_given_store(options.store_url, StoreUse::Write, IfMissing::Create)
                                   : open_given_store(options.store_url, StoreUse::Read);
  show(*store, options.renew ? renew_shared_seed(*store) : find_shared_seed(*store), options.json);
}

}  // namespace

void add_seed(CLI::App& program, VerbResult& /*result*/) {
  auto options = std::make_shared<SeedOptions>();
  CLI::App* verb = add_verb(
      program, "seed", "Show the seed that the sets of a store share, or draw a new one",
      "  keysieve seed lmdb:/var/lib/keysieve\n"
      "  keysieve seed --new redis://cache:6379/2\n"
      "Anyone who knows the seed can choose keys that overfill a shard. The next build --like this store\n"
      "of each set takes the new one; until then what is published is served as before.");
  verb->add_option("URL", options->store_url, store_help())->required();
  verb->add_flag("--new", options->renew,
                 "Draw a new seed for all future builds; creates the store if there is none");
  add_json(verb, options->json);
  verb->callback([options] { seed(*options); });
}

}  // namespace keysieve
