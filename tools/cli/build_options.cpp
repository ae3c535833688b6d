#include "tools/cli/build_options.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "core/builder/base/run_tasks.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/set_name.hpp"
#include "tools/cli/snapshot_file.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

// A list that is named as the snapshot would be replaced by it, and the keys lost.
void check_inputs(const BuildOptions& options) {
  const std::vector<std::string> inputs{options.map.values_path, options.key_path, options.known_absent_path,
                                        options.guards.required_keys_path};
  check_standard_input(inputs);
  for (const std::string& input : inputs) {
    if (input.empty() || !is_same_file(input, options.output_path)) continue;
    throw Error(ErrorKind::Usage,
                options.output_path + ": would overwrite " + key_source(input) + ", which must be read");
  }
}

void add_source_options(CLI::App* verb, BuildOptions& options) {
  verb->add_option("KEYFILE", options.key_path,
                   "One key per line; - reads standard input. Empty lines are skipped");
  add_map_options(verb, options.map);
  verb->add_option("--known-absent", options.known_absent_path,
                   "List of keys to which the set answers absent, without exception; - reads standard "
                   "input. A key in both lists counts as a key of the set. --fpr is that of all others")
      ->type_name("FILE");
  add_key_format(verb, options.format);
  add_allow_suspect_keys(verb, options.allow_suspect_keys);
  add_as_of(verb, options.as_of,
            "When the keys began to be read from their source, on a replica the moment that it had reached: "
            "2026-11-21T07:00:00Z or @SECONDS [now]");
  auto* position =
      add_parsed(
          verb, "--adds-from", options.adds_from, parse_position,
          "Position in the adds log after which adds may be missing from the list [--adds-overlap before "
          "--as-of, in the log of the store of --like; without a store 0-0, the whole log]")
          ->type_name("POSITION");
  add_parsed(
      verb, "--adds-overlap", options.adds_overlap, parse_duration,
      "Longest time that a transaction takes from its add to its commit, and by which clocks differ; not the "
      "lag of a replica, which belongs in --as-of [10m]")
      ->type_name("DURATION")
      ->excludes(position);
}

void add_shape_options(CLI::App* verb, BuildOptions& options) {
  add_parsed(verb, "--fpr", options.settings.target_fpr, parse_share,
             "Target FPR: 1e-9 to 0.5, or in %; below 1e-6 not every kind [0.01]")
      ->type_name("FPR");
  const std::string names = kind_names([](const FilterKind&) { return true; });
  verb->add_option("--kind", options.kind_name,
                   "Filter kind: " + names + " [split_block_bloom, or as --like]")
      ->type_name("KIND");
  add_parsed(verb, "--shard-size", options.shard_bytes, parse_shard_bytes,
             "1KiB, 2KiB, 4KiB or 8KiB [4KiB, or as --like]")
      ->type_name("SIZE");
  add_sign_key(verb, options.sign_key);
  verb->add_option("--growth", options.settings.growth, "Room for that many times the keys: 1 to 100")
      ->type_name("FACTOR")
      ->capture_default_str();
  auto* like = verb->add_option("--like", options.like,
                                "Take the seed of this store, which is created if there is none, or of this "
                                "snapshot. If the set is in there, also keep its kind and, as long as the "
                                "keys fit, its shards; --max-shrink compares with it")
                   ->type_name("FILE|URL");
  verb->add_flag("--resize", options.resize,
                 "Size the set for its keys again, instead of keeping the shards of --like")
      ->needs(like);
}

unsigned parse_threads(const std::string& text) {
  const std::uint64_t threads = parse_count(text);
  if (threads == 0 || threads > kMostThreads) {
    throw Error(ErrorKind::Usage, fmt::format("{} is out of range: 1 to {}", threads, kMostThreads));
  }
  return static_cast<unsigned>(threads);
}

void add_resource_options(CLI::App* verb, BuildOptions& options) {
  const std::string group = "Resources";
  add_parsed(verb, "--threads", options.threads, parse_threads,
             "Threads at most: 1 to 64; the snapshot is the same [processors that it may run on]")
      ->type_name("N")
      ->group(group);
  add_parsed(
      verb, "--memory", options.memory_bytes, parse_bytes,
      "Use at most this much memory, 800M for example; hashes that do not fit go to temporary files, 8 "
      "bytes per key, and a key may be at most 256 KiB [no limit: 8 bytes per key and 15 MB per thread]")
      ->type_name("SIZE")
      ->group(group);
  verb->add_option("--temp-dir", options.temporary_folder,
                   "Folder of those files [TMPDIR, or else the folder of FILE.ks]")
      ->envname("TMPDIR")
      ->type_name("DIR")
      ->group(group);
}

void add_label_options(CLI::App* verb, BuildOptions& options) {
  add_parsed(
      verb, "--valid-for", options.settings.valid_for,
      [](const std::string& text) {
        // Rounded up: 0 would be no limit.
        return std::chrono::ceil<std::chrono::seconds>(parse_duration(text)).count();
      },
      "How long after --as-of the set is valid; then every answer is maybe: 12h, 2d [no limit]")
      ->type_name("DURATION");
  verb->add_option("--key-profile", options.settings.key_profile,
                   "Names how keys are normalised, at most 64 bytes; PHP can ask for it")
      ->type_name("TEXT");
  verb->add_option("--format", options.settings.format,
                   "Snapshot format: " + snapshot_formats_text() +
                       "; the one before is for hosts that are not upgraded yet")
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace

void add_build_options(CLI::App* verb, BuildOptions& options) {
  verb->add_option("--set", options.settings.set_name, "Name of the set: [a-z0-9][a-z0-9_-]{0,63}")
      ->required()
      ->type_name("NAME");
  verb->add_option("-o,--output", options.output_path, "Snapshot file to write")
      ->required()
      ->type_name("FILE.ks");
  add_source_options(verb, options);
  add_shape_options(verb, options);
  add_label_options(verb, options);
  add_resource_options(verb, options);
  add_guards(verb, options.guards);
  verb->get_option("--max-fpr")
      ->description("Refuse a set whose estimated FPR is higher [three times --fpr, at least 0.1%]");
  add_json(verb, options.json);
}

void check_build_options(const BuildOptions& options) {
  checked_set_name(options.settings.set_name);
  if (options.key_path.empty() != options.map.is_map()) {
    throw Error(ErrorKind::Usage, options.key_path.empty()
                                      ? "which keys? Name a KEYFILE, or for a map --values"
                                      : "KEYFILE: --values has the keys of a map");
  }
  if (options.map.is_map() && options.memory_bytes) {
    throw Error(ErrorKind::Usage,
                "--memory: a map is built in memory, of which it needs about 45 bytes for each key given");
  }
  check_inputs(options);
}

}  // namespace keysieve
