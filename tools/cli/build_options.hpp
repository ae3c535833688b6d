// The options of `keysieve build`.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/builder/snapshot/builder.hpp"
#include "tools/cli/map_input.hpp"
#include "tools/cli/options.hpp"
#include "tools/transfer/adds_log.hpp"

namespace keysieve {

struct BuildOptions {
  std::string key_path;
  MapOptions map;
  std::string known_absent_path;
  std::string output_path;
  std::string kind_name;
  std::string like;  // path of a snapshot, or URL of a store
  bool resize = false;
  BuildSettings settings;
  std::optional<std::uint32_t> shard_bytes;
  std::shared_ptr<const SigningKey> sign_key;
  std::optional<unsigned> threads;
  std::optional<std::uint64_t> memory_bytes;
  std::string temporary_folder;
  std::optional<UnixSeconds> as_of;
  std::optional<LogPosition> adds_from;
  std::chrono::milliseconds adds_overlap = kDefaultAddsOverlap;
  KeyFileFormat format;
  bool allow_suspect_keys = false;
  GuardOptions guards;
  bool json = false;
};

void add_build_options(CLI::App* verb, BuildOptions& options);

// Throws Usage for a wrong set name, an output that would overwrite a list of keys, or standard input that is
// to be read twice.
void check_build_options(const BuildOptions& options);

}  // namespace keysieve
