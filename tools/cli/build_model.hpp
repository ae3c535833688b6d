// What `keysieve build` takes over from --like, the snapshot or the store of an earlier build.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/builder/filters/sizing.hpp"
#include "tools/stores/store.hpp"
#include "tools/transfer/guards.hpp"

namespace keysieve {

// Always the seed, and the rest if this set is there.
struct Model {
  std::string description;
  HashSeed seed;
  std::optional<Geometry> geometry{};
  std::optional<Baseline> baseline{};
};

// Opens the store of --like; nullptr if that is a file. The first build of a store creates it, as a push
// does. It is opened to read: where it cannot be written to, a seed that it lacks is drawn all the same.
std::unique_ptr<Store> open_model_store(const std::string& like);

// Of the store, or if that is nullptr, of the file `like`; without --like a new seed. Warns where only the
// seed is taken. Throws as SnapshotFile and the store do.
Model model_for(const std::string& set_name, const std::string& like, Store* store);

}  // namespace keysieve
