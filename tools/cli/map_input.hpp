// What `keysieve build` and `keysieve verify` read for a map: a list of keys with their values.
#pragma once

#include <string>

#include "core/builder/snapshot/builder.hpp"
#include "core/builder/snapshot/map_values.hpp"
#include "tools/keys/key_file.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace keysieve {

struct MapOptions {
  std::string values_path;
  unsigned value_column = 2;

  [[nodiscard]] bool is_map() const noexcept { return !values_path.empty(); }
};

// --values and --value-column.
void add_map_options(CLI::App* verb, MapOptions& options);

// Holds the values while the builder takes the keys. Must outlive the builder.
class MapInput {
 public:
  MapInput(const MapOptions& options, unsigned threads) : options_(options), values_(threads) {}

  // For BuildSettings::values.
  [[nodiscard]] const MapValues* values() const noexcept { return options_.is_map() ? &values_ : nullptr; }

  // Some lines of the list. Any thread, each with its own number. Throws Data.
  void add_lines(unsigned thread, std::span<const std::string_view> lines, SnapshotBuilder& builder);
  // Call after the last key. Throws Data for a key with two values, which it looks up in the list again.
  void finish(const KeyFileFormat& format, const KeyHasher& hasher);

 private:
  [[nodiscard]] std::string key_with(KeyHash hash, const KeyFileFormat& format,
                                     const KeyHasher& hasher) const;

  const MapOptions& options_;
  MapValues values_;
};

}  // namespace keysieve
