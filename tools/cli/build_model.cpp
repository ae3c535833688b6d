#include "tools/cli/build_model.hpp"

#include <fmt/core.h>

#include "core/builder/base/random.hpp"
#include "core/builder/snapshot/builder.hpp"
#include "core/worker/base/error.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/snapshot_file.hpp"
#include "tools/transfer/shared_seed.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

Model model_in_file(const std::string& path, const std::string& set_name) {
  const SnapshotFile file(path, Check::Tables);
  const SnapshotView& held = file.view();
  if (held.set_name() == set_name) return {path, held.seed(), geometry_of(held), baseline_of(held.header())};
  return {fmt::format("{} holds the set {}, not {}: only its seed is taken", path, held.set_name(), set_name),
          held.seed()};
}

// The store's seed, which may have been renewed since; that of the current generation only where the store
// has none.
Model model_in_store(Store& store, const std::string& set_name) {
  const auto seed = find_shared_seed(store);
  const auto pointer = read_pointer(store, set_name);
  if (!pointer) {
    return {fmt::format("{} has no set {} yet{}", store.name(), set_name,
                        seed ? ": only its seed is taken" : " and no seed: one is drawn"),
            seed ? *seed : shared_seed(store)};
  }
  const SnapshotRecord& current = *pointer->current;
  try {
    const SnapshotHeader header = read_header(store, set_name, current);
    return {fmt::format("{}, generation {}", store.name(), current.generation), seed.value_or(header.seed),
            geometry_of(header), baseline_of(header)};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data) throw;
    return {fmt::format("{}; only the store's seed is taken", error.what()),
            seed ? *seed : shared_seed(store), std::nullopt, Baseline{.key_count = current.key_count}};
  }
}

// Also a URL of no known store: it may hold a password, so it must not be named as a file that is missing.
bool is_url(const std::string& text) {
  return is_store_url(text) || text.find("://") != std::string::npos;
}

}  // namespace

std::unique_ptr<Store> open_model_store(const std::string& like) {
  return is_url(like) ? open_given_store(like, StoreUse::Read, IfMissing::Create) : nullptr;
}

Model model_for(const std::string& set_name, const std::string& like, Store* store) {
  if (like.empty()) return {"", random_value<HashSeed>()};
  Model model = store == nullptr ? model_in_file(like, set_name) : model_in_store(*store, set_name);
  const char* more = model.baseline ? "" : ", and --max-shrink compares with nothing";
  if (!model.geometry) print_warning(model.description + more);
  return model;
}

}  // namespace keysieve
