// keysieve build: from a list of keys to a snapshot file.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "core/builder/base/random.hpp"
#include "core/builder/base/run_tasks.hpp"
#include "core/builder/snapshot/builder.hpp"
#include "core/builder/snapshot/map_values.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/mapped_region.hpp"
#include "core/worker/base/set_name.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/snapshot_file.hpp"
#include "tools/keys/value_line.hpp"
#include "tools/program/durable_file.hpp"
#include "tools/program/printable.hpp"
#include "tools/program/units.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/shared_seed.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

struct BuildOptions {
  KeyList keys;
  std::string known_absent_path;
  std::string output_path;
  std::string like;  // path of a snapshot, or URL of a store
  bool resize = false;
  BuildSettings settings;
  const FilterKind* kind = nullptr;
  std::optional<std::uint32_t> shard_bytes;
  std::shared_ptr<const SigningKey> sign_key;
  BuildResources resources{.threads = usable_processors(), .temporary_folder = ""};
  std::optional<UnixSeconds> as_of;
  std::optional<LogPosition> adds_from;
  std::chrono::milliseconds adds_overlap = kDefaultAddsOverlap;
  bool allow_suspect_keys = false;
  GuardOptions guards;
};

void add_source_options(CLI::App* verb, BuildOptions& options) {
  add_key_list(verb, "KEYFILE", "One key per line; - reads standard input. Empty lines are skipped",
               options.keys);
  add_text(
      verb, "--known-absent FILE", options.known_absent_path,
      "List of keys to which the set answers absent, without exception; - reads standard input. A key in "
      "both lists counts as a key of the set. --fpr is that of all others");
  add_allow_suspect_keys(verb, options.allow_suspect_keys);
  add_as_of(verb, options.as_of,
            "When the keys began to be read from their source, on a replica the moment that it had reached: "
            "2026-11-21T07:00:00Z or @SECONDS [now]");
  auto* position = add_parsed(
      verb, "--adds-from POSITION", options.adds_from, parse_position,
      "Position in the adds log after which adds may be missing from the list [--adds-overlap before "
      "--as-of, in the log of the store of --like; without a store 0-0, the whole log]");
  add_parsed(
      verb, "--adds-overlap DURATION", options.adds_overlap, parse_duration,
      "Longest time that a transaction takes from its add to its commit, and by which clocks differ; not the "
      "lag of a replica, which belongs in --as-of [10m]")
      ->excludes(position);
}

void add_shape_options(CLI::App* verb, BuildOptions& options) {
  BuildSettings& settings = options.settings;
  const auto kind_named = [](const std::string& name) { return &filter_kind_named(name); };
  add_fpr_and_growth(verb, settings.target_fpr, settings.growth);
  add_parsed(verb, "--kind KIND", options.kind, kind_named,
             "Filter kind: " + kind_names([](const FilterKind&) { return true; }) +
                 " [split_block_bloom, or as --like]");
  add_parsed(verb, "--shard-size SIZE", options.shard_bytes, parse_shard_bytes,
             "1KiB, 2KiB, 4KiB or 8KiB [4KiB, or as --like]");
  add_sign_key(verb, options.sign_key);
  auto* like =
      add_text(verb, "--like FILE|URL", options.like,
               "Take the seed of this store, which is created if there is none, or of this snapshot. "
               "If the set is in there, also keep its kind and, as long as the keys fit, its shards; "
               "--max-shrink compares with it");
  verb->add_flag("--resize", options.resize,
                 "Size the set for its keys again, instead of keeping the shards of --like")
      ->needs(like);
  add_parsed(
      verb, "--valid-for DURATION", settings.valid_for,
      [](const std::string& text) {
        // Rounded up: 0 would be no limit.
        return std::chrono::ceil<std::chrono::seconds>(parse_duration(text)).count();
      },
      "How long after --as-of the set is valid; then every answer is maybe: 12h, 2d [no limit]");
  add_text(verb, "--key-profile TEXT", settings.key_profile,
           "Names how keys are normalised, at most 64 bytes; PHP can ask for it");
  verb->add_option("--format", settings.format,
                   "Snapshot format: " + snapshot_formats_text() +
                       "; the one before is for hosts that are not upgraded yet")
      ->type_name("N")
      ->capture_default_str();
}

unsigned parse_threads(const std::string& text) {
  const std::uint64_t threads = parse_count(text);
  if (threads != 0 && threads <= kMostThreads) return static_cast<unsigned>(threads);
  throw Error(ErrorKind::Usage, fmt::format("{} is out of range: 1 to {}", threads, kMostThreads));
}

void add_resource_options(CLI::App* verb, BuildResources& resources) {
  verb->option_defaults()->group("Resources");
  add_parsed(verb, "--threads N", resources.threads, parse_threads,
             "Threads at most: 1 to 64; the snapshot is the same [processors that it may run on]");
  add_parsed(
      verb, "--memory SIZE", resources.memory_bytes, parse_bytes,
      "Use at most this much memory, 800M for example; hashes that do not fit go to temporary files, 8 "
      "bytes per key, and a key may be at most 256 KiB [no limit: 8 bytes per key and 15 MB per thread]");
  add_text(verb, "--temp-dir DIR", resources.temporary_folder,
           "Folder of those files [TMPDIR, or else the folder of FILE.ks]")
      ->envname("TMPDIR");
  verb->option_defaults()->group("Options");
}

void add_build_options(CLI::App* verb, BuildOptions& options) {
  add_text(verb, "--set NAME", options.settings.set_name, "Name of the set: [a-z0-9][a-z0-9_-]{0,63}")
      ->required();
  add_text(verb, "-o,--output FILE.ks", options.output_path, "Snapshot file to write")->required();
  add_source_options(verb, options);
  add_shape_options(verb, options);
  add_resource_options(verb, options.resources);
  add_guards(verb, options.guards);
  verb->get_option("--max-fpr")
      ->description("Refuse a set whose estimated FPR is higher [three times --fpr, at least 0.1%]");
}

// Before a store is touched. A list that is named as the snapshot would be replaced by it, and the keys lost.
void check_build_options(const BuildOptions& options) {
  checked_set_name(options.settings.set_name);
  const std::vector<std::string> others{options.known_absent_path, options.guards.required_keys_path};
  check_lists(options.keys, others);
  for (const std::string& list : {options.keys.path(), others[0], others[1]}) {
    if (list.empty() || !is_same_file(list, options.output_path)) continue;
    throw Error(ErrorKind::Usage,
                options.output_path + ": would overwrite " + key_source(list) + ", which must be read");
  }
  if (options.keys.is_map() && options.resources.memory_bytes != kNoMemoryLimit) {
    throw Error(ErrorKind::Usage,
                "--memory: a map is built in memory, of which it needs about 45 bytes for each key given");
  }
}

// Taken over from --like: always the seed, and the rest if this set is there.
struct Model {
  std::string description;
  HashSeed seed;
  std::optional<Geometry> geometry{};
  std::optional<Baseline> baseline{};
};

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

// That of --like; nullptr without one. The first build of a store creates it, as a push does. Read: where it
// cannot be written to, a seed that it lacks is drawn all the same.
std::unique_ptr<Store> store_of(const BuildOptions& options) {
  if (!is_url(options.like)) return nullptr;
  return open_given_store(options.like, StoreUse::Read, IfMissing::Create);
}

Model model_of(const BuildOptions& options, Store* store) {
  if (options.like.empty()) return {"", random_value<HashSeed>()};
  const std::string& set_name = options.settings.set_name;
  Model model = store == nullptr ? model_in_file(options.like, set_name) : model_in_store(*store, set_name);
  const char* more = model.baseline ? "" : ", and --max-shrink compares with nothing";
  if (!model.geometry) print_warning(model.description + more);
  return model;
}

// The log position from which the live layer must add keys. Without a store: the whole log. Trimmed keys are
// in an earlier build, so the position is at least where the log is trimmed to, even if the clock went back.
// An --as-of may lie before that: then push decides.
LogPosition adds_from_of(const BuildOptions& options, Store* store) {
  if (options.adds_from) return *options.adds_from;
  if (store == nullptr) return {};
  const std::string& set_name = options.settings.set_name;
  constexpr std::int64_t kMilliseconds = 1000;
  if (options.as_of) return adds_from(*store, set_name, *options.as_of * kMilliseconds, options.adds_overlap);
  const LogPosition from = adds_from(*store, set_name, std::nullopt, options.adds_overlap);
  // Also of a set that was deleted.
  const auto pointer = read_stored_pointer(*store, set_name);
  const LogPosition by_pointer = pointer ? pointer->adds_trimmed_to : LogPosition{};
  return std::max(from, adds_trimmed_to(*store, set_name, by_pointer));
}

// Kind and shard size: as asked for, else as --like, else the defaults.
BuildSettings settings_of(const BuildOptions& options, Store* store, const Model& model,
                          const MapValues& values) {
  BuildSettings settings = options.settings;
  if (!options.resize) settings.like = model.geometry;
  settings.signer = options.sign_key.get();
  settings.seed = model.seed;
  settings.has_known_absent = !options.known_absent_path.empty();
  settings.as_of = options.as_of.value_or(unix_now());
  settings.adds_from = adds_from_of(options, store);
  if (model.geometry) {
    settings.kind = model.geometry->kind;
    settings.shard_bytes = model.geometry->params.shard_bytes;
  }
  if (options.keys.is_map()) {
    settings.kind = &filter_kind_named(kMapKindName);
    settings.values = &values;
  }
  if (options.kind != nullptr) settings.kind = options.kind;
  settings.shard_bytes = options.shard_bytes.value_or(settings.shard_bytes);
  return settings;
}

// Hands all keys of a list to `add(thread, keys)`, which returns how many there were so far.
template <typename Add>
void read_key_list(const BuildOptions& options, const std::string& path, const SnapshotBuilder& builder,
                   Add add) {
  ProgressLine progress("reading " + key_source(path));
  KeyFileFormat format = options.keys.format;
  format.has_columns = path == options.keys.values_path;
  format.max_key_bytes = std::min(format.max_key_bytes, builder.most_key_bytes());
  const KeysRead read =
      read_keys_in_threads(path, format, builder.threads(), [&](unsigned thread, auto keys) {
        const std::uint64_t given = add(thread, keys);
        if (thread == 0) progress.show_keys(given);
      });
  check_suspect_keys(path, read, options.allow_suspect_keys);
}

// Reads the list again, because only hashes are kept.
std::string map_key_with(KeyHash hash, const KeyList& list, const KeyHasher& hasher) {
  if (list.path() == "-") return "a key, which a list in a file would show,";
  std::string found = "a key";
  read_keys(list.path(), list.format, [&](std::string_view line) {
    const std::string_view key = parse_value_line(line, list.value_column, list.source()).key;
    if (hasher(key) == hash) found = "\"" + printable(key) + "\"";
  });
  return found;
}

void read_map(const BuildOptions& options, SnapshotBuilder& builder, MapValues& values) {
  const KeyList& list = options.keys;
  read_key_list(options, list.path(), builder, [&](unsigned thread, auto lines) {
    for (const std::string_view line : lines) {
      const ValueLine parsed = parse_value_line(line, list.value_column, list.source());
      builder.add(thread, {&parsed.key, 1});
      values.add(thread, builder.hasher()(parsed.key), parsed.value);
    }
    return builder.keys_given();
  });
  if (const auto conflict = values.finish()) {
    throw Error(ErrorKind::Data, fmt::format("{}: {} has the values {} and {}", list.source(),
                                             map_key_with(conflict->hash, list, builder.hasher()),
                                             conflict->first, conflict->second));
  }
}

void read_all_keys(const BuildOptions& options, SnapshotBuilder& builder, MapValues& values) {
  if (options.keys.is_map()) {
    read_map(options, builder, values);
  } else {
    read_key_list(options, options.keys.path(), builder, [&](unsigned thread, auto keys) {
      builder.add(thread, keys);
      return builder.keys_given();
    });
  }
  if (!options.known_absent_path.empty()) {
    read_key_list(options, options.known_absent_path, builder, [&](unsigned thread, auto keys) {
      builder.add_known_absent(thread, keys);
      return builder.known_absent_given();
    });
  }
  if (builder.keys_given() == 0 && options.guards.limits.min_keys > 0) {
    throw Error(ErrorKind::Data, options.keys.source() + ": holds no keys; set " + options.settings.set_name +
                                     " is not built (--min-keys 0 builds an empty one)");
  }
}

// A snapshot that is written but not yet in its place.
struct Written {
  Written(const std::string& path, SnapshotBuilder& builder) : file(path) {
    builder.size();
    builder.write([this](std::uint64_t offset, Bytes part) { file.write_at(offset, part); });
    region = file.map();
    view = SnapshotView::decode(bytes_of(region), path, Check::Tables);
  }
  DurableFile file;
  MappedRegion region;
  std::optional<SnapshotView> view;
};

void say_what_was_built(const BuildOptions& options, const Store* store, const Model& model,
                        const SnapshotBuilder& builder, const SnapshotView& built) {
  Report report;
  report.add("written", options.output_path, "file", options.output_path);
  if (!options.like.empty())
    report.add("like", model.description, "like", store ? store->name() : options.like);
  add_snapshot_summary(report, built, builder.fill_ratio());
  report.add("keys read", format_count(builder.keys_given()), "keys_read", builder.keys_given());
  if (!options.known_absent_path.empty()) {
    const std::uint64_t in_both = builder.keys_in_both_lists();
    report.add("known absent read",
               fmt::format("{}, of which {} {} in both lists", format_count(builder.known_absent_given()),
                           format_count_of(in_both, "key"), in_both == 1 ? "is" : "are"),
               "known_absent_read", builder.known_absent_given());
    report.add_member("keys_in_both_lists", in_both);
  }
  report.add("as of", format_moment(built.header().as_of), "as_of", built.header().as_of);
  report.print();
}

void build(BuildOptions options) {
  check_build_options(options);
  Guards guards = options.guards.guards(options.keys.format);
  if (!guards.max_fpr) guards.max_fpr = default_max_fpr(options.settings.target_fpr);
  const auto store = store_of(options);
  const Model model = model_of(options, store.get());
  BuildResources& resources = options.resources;
  if (resources.temporary_folder.empty()) resources.temporary_folder = folder_of(options.output_path);
  ProgressLine progress("building " + options.settings.set_name);
  resources.progress = [&progress](auto done, auto total, auto what) {
    progress.show_count(done, total, what);
  };
  MapValues values(resources.threads);
  SnapshotBuilder builder(settings_of(options, store.get(), model, values), resources);
  read_all_keys(options, builder, values);
  progress.announce(format_count_of(builder.keys_given(), "key"));
  Written written(options.output_path, builder);
  check_guards(guards, *written.view, model.baseline);
  written.file.commit();
  say_what_was_built(options, store.get(), model, builder, *written.view);
}

}  // namespace

void add_build(CLI::App& program, VerbResult& /*result*/) {
  auto options = std::make_shared<BuildOptions>();
  CLI::App* verb = add_verb(
      program, "build", "Build a snapshot from a list of keys",
      "  keysieve build --set tags --fpr 0.01 tags.txt -o tags.ks\n"
      "  mysql -BNe 'SELECT name FROM tags' shop | keysieve build --set tags --min-keys 50000 - -o tags.ks\n"
      "  keysieve build --set tags --like lmdb:/var/lib/keysieve --valid-for 2d tags.txt -o tags.ks\n"
      "  keysieve build --set tags --known-absent no-article.txt tags.txt -o tags.ks\n"
      "  keysieve build --set tiers --values tiers.tsv -o tiers.ks\n"
      "  keysieve build --set users --memory 800M --temp-dir /var/tmp users.txt -o users.ks\n"
      "In a script, use `set -o pipefail`: otherwise a query that fails half-way builds an incomplete set.");
  add_build_options(verb, *options);
  verb->callback([options] { build(*options); });
}

}  // namespace keysieve
