// keysieve seed: the seed that the sets of a store share, and a new one in its place.
#include <fmt/format.h>

#include "tools/cli/verb.hpp"
#include "tools/records/chunk.hpp"
#include "tools/transfer/shared_seed.hpp"

namespace keysieve {
namespace {

void show(Store& store, const std::optional<HashSeed>& seed) {
  Report report;
  report.add("store", store.name());
  report.add("seed", seed ? to_hex(*seed) : "none yet; the first build --like this store draws one", "seed",
             seed ? Json(to_hex(*seed)) : Json());
  const bool is_known = seed && store.abilities().list;
  const auto others = is_known ? sets_of_other_seeds(store, *seed) : std::vector<std::string>();
  report.add_if(is_known, "sets with other or unknown seeds",
                others.empty() ? "none" : fmt::format("{}", fmt::join(others, ", ")), "sets_of_other_seeds",
                others, seed ? Json() : Json::array());
  report.print();
}

class SeedVerb {
 public:
  void declare(CLI::App* verb) {
    verb->add_option("URL", store_url_, store_help())->required();
    verb->add_flag("--new", renew_,
                   "Draw a new seed for all future builds; creates the store if there is none");
  }

  int run() {
    const auto store = renew_ ? open_given_store(store_url_, StoreUse::Write, IfMissing::Create)
                              : open_given_store(store_url_, StoreUse::Read);
    show(*store, renew_ ? renew_shared_seed(*store) : find_shared_seed(*store));
    return 0;
  }

 private:
  std::string store_url_;
  bool renew_ = false;
};

}  // namespace

extern const Verb kSeed{
    "seed", "Show the seed that the sets of a store share, or draw a new one",
    "  keysieve seed lmdb:/var/lib/keysieve\n"
    "  keysieve seed --new redis://cache:6379/2\n"
    "Anyone who knows the seed can choose keys that overfill a shard. The next build --like this store\n"
    "of each set takes the new one; until then what is published is served as before.",
    prepare<SeedVerb>};

}  // namespace keysieve
