// The lists that `keysieve build` reads: keys, keys with values, and known-absent keys.
#pragma once

#include <cstdint>
#include <string>

#include "core/builder/snapshot/builder.hpp"
#include "core/builder/snapshot/map_values.hpp"
#include "tools/cli/options.hpp"
#include "tools/keys/key_profile.hpp"

namespace keysieve {

struct BuildLists {
  KeyList keys;
  std::string known_absent_path;
  std::string key_profile;
  bool allow_suspect_keys = false;

  void declare(CLI::App* verb);
  // Hands all that they hold to the builder; the values of a map to `values`. Throws MissingInput,
  // Permission, and Data for what is probably wrong or what a built-in key profile does not allow.
  void read_into(SnapshotBuilder& builder, MapValues& values) const;

 private:
  template <typename Add>
  void read(const std::string& path, const SnapshotBuilder& builder, PublicSuffixes suffixes, Add add) const;
  void read_map(SnapshotBuilder& builder, MapValues& values) const;
};

}  // namespace keysieve
