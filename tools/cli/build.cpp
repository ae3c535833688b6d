// keysieve build: from a list of keys to a snapshot file.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
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
};

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
}

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

// Before a store is touched.
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

// Taken over from --like: always the seed, and the rest if this set is there.
struct Model {
  std::optional<Geometry> geometry;
  std::optional<HashSeed> seed;
  std::optional<Baseline> baseline;
  std::string description;  // for the report
  std::string warning{};    // if the set is not there
};

Model model_in_file(const std::string& path, const std::string& set_name) {
  const SnapshotFile file(path, Check::Tables);
  const std::string_view held = file.view().set_name();
  if (held != set_name) {
    return {{},
            file.view().seed(),
            {},
            fmt::format("{}: only the seed, it holds the set {}", path, held),
            fmt::format("{} holds the set {}, not {}: only its seed is taken, and --max-shrink compares with "
                        "nothing",
                        path, held, set_name)};
  }
  return {geometry_of(file.view()), file.view().seed(), baseline_of(file.view().header()), path};
}

// The store's seed, which may have been renewed since; that of the current generation only where the store
// has none.
Model model_in_store(Store& store, const std::string& set_name) {
  const auto pointer = read_pointer(store, set_name);
  if (!pointer) {
    const auto seed = find_shared_seed(store);
    return {{},
            seed ? *seed : shared_seed(store),
            {},
            fmt::format("{}: only the seed, it has no set {} yet", store.name(), set_name),
            fmt::format("{} has no set {} yet{}, and --max-shrink compares with nothing", store.name(),
                        set_name, seed ? ": only its seed is taken" : " and no seed: one is drawn")};
  }
  const SnapshotRecord& current = *pointer->current;
  try {
    const SnapshotHeader header = read_header(store, set_name, current);
    const HashSeed seed = find_shared_seed(store).value_or(header.seed);
    return {geometry_of(header), seed, baseline_of(header),
            fmt::format("{}, generation {}", store.name(), current.generation)};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data) throw;
    return {{},
            shared_seed(store),
            Baseline{.key_count = current.key_count},
            fmt::format("{}: only the seed, generation {} is damaged", store.name(), current.generation),
            fmt::format("{}; only the store's seed is taken", error.what())};
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
  if (options.like.empty()) return {};
  return store == nullptr ? model_in_file(options.like, options.settings.set_name)
                          : model_in_store(*store, options.settings.set_name);
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
                          const MapValues* values) {
  BuildSettings settings = options.settings;
  settings.values = values;
  if (!options.resize) settings.like = model.geometry;
  settings.signer = options.sign_key.get();
  settings.seed = model.seed ? *model.seed : random_value<HashSeed>();
  settings.has_known_absent = !options.known_absent_path.empty();
  settings.as_of = options.as_of.value_or(unix_now());
  settings.adds_from = adds_from_of(options, store);
  if (model.geometry) {
    settings.kind = model.geometry->kind;
    settings.shard_bytes = model.geometry->params.shard_bytes;
  }
  if (options.map.is_map()) settings.kind = &filter_kind_named(kMapKindName);
  if (!options.kind_name.empty()) settings.kind = &filter_kind_named(options.kind_name);
  if (options.shard_bytes) settings.shard_bytes = *options.shard_bytes;
  return settings;
}

std::string temporary_folder_of(const BuildOptions& options) {
  if (!options.temporary_folder.empty()) return options.temporary_folder;
  const std::string folder = std::filesystem::path(options.output_path).parent_path().string();
  return folder.empty() ? "." : folder;
}

BuildResources resources_of(const BuildOptions& options) {
  return {.threads = options.threads.value_or(usable_processors()),
          .memory_bytes = options.memory_bytes.value_or(kNoMemoryLimit),
          .temporary_folder = temporary_folder_of(options)};
}

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

void MapInput::add_lines(unsigned thread, std::span<const std::string_view> lines, SnapshotBuilder& builder) {
  for (const std::string_view line : lines) {
    const ValueLine parsed = parse_value_line(line, options_.value_column, key_source(options_.values_path));
    builder.add(thread, {&parsed.key, 1});
    values_.add(thread, builder.hasher()(parsed.key), parsed.value);
  }
}

void MapInput::finish(const KeyFileFormat& format, const KeyHasher& hasher) {
  if (const auto conflict = values_.finish()) {
    throw Error(ErrorKind::Data,
                fmt::format("{}: {} has the values {} and {}", key_source(options_.values_path),
                            key_with(conflict->hash, format, hasher), conflict->first, conflict->second));
  }
}

// Reads the list again, because only hashes are kept.
std::string MapInput::key_with(KeyHash hash, const KeyFileFormat& format, const KeyHasher& hasher) const {
  if (options_.values_path == "-") return "a key, which a list in a file would show,";
  std::string found = "a key";
  read_keys(options_.values_path, format, [&](std::string_view line) {
    const std::string_view key = parse_value_line(line, options_.value_column, options_.values_path).key;
    if (hasher(key) == hash) found = "\"" + printable(key) + "\"";
  });
  return found;
}

// Hands all keys of a list to `add(thread, keys)`, which returns how many there were so far.
template <typename Add>
void read_key_list(const BuildOptions& options, const std::string& path, const SnapshotBuilder& builder,
                   Add add) {
  ProgressLine progress("reading " + key_source(path));
  KeyFileFormat format = options.format;
  format.has_columns = path == options.map.values_path;
  format.max_key_bytes = std::min(format.max_key_bytes, builder.most_key_bytes());
  const KeysRead read =
      read_keys_in_threads(path, format, builder.threads(), [&](unsigned thread, auto keys) {
        const std::uint64_t given = add(thread, keys);
        if (thread == 0) progress.show_keys(given);
      });
  check_suspect_keys(path, read, options.allow_suspect_keys);
}

void read_all_keys(const BuildOptions& options, SnapshotBuilder& builder, MapInput& map) {
  if (options.map.is_map()) {
    read_key_list(options, options.map.values_path, builder, [&](unsigned thread, auto lines) {
      map.add_lines(thread, lines, builder);
      return builder.keys_given();
    });
    map.finish(options.format, builder.hasher());
  } else {
    read_key_list(options, options.key_path, builder, [&](unsigned thread, auto keys) {
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
  if (builder.keys_given() == 0 && options.guards.min_keys > 0) {
    const std::string& path = options.map.is_map() ? options.map.values_path : options.key_path;
    throw Error(ErrorKind::Data, key_source(path) + ": holds no keys; set " + options.settings.set_name +
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

void build(const BuildOptions& options) {
  check_build_options(options);
  Guards guards = options.guards.guards(options.format);
  if (!guards.max_fpr) guards.max_fpr = default_max_fpr(options.settings.target_fpr);
  const auto store = store_of(options);
  const Model model = model_of(options, store.get());
  if (!model.warning.empty()) print_warning(model.warning);
  BuildResources resources = resources_of(options);
  MapInput map(options.map, resources.threads);
  const BuildSettings settings = settings_of(options, store.get(), model, map.values());
  ProgressLine progress("building " + settings.set_name);
  resources.progress = [&progress](auto done, auto total, auto what) {
    progress.show_count(done, total, what);
  };
  SnapshotBuilder builder(settings, resources);
  read_all_keys(options, builder, map);
  progress.announce(format_count_of(builder.keys_given(), "key"));
  Written written(options.output_path, builder);
  check_guards(guards, *written.view, model.baseline);
  written.file.commit();

  Report report;
  report.add("written", options.output_path, "file", options.output_path);
  if (!options.like.empty())
    report.add("like", model.description, "like", store ? store->name() : options.like);
  add_snapshot_summary(report, *written.view, builder.fill_ratio());
  report.add("keys read", format_count(builder.keys_given()), "keys_read", builder.keys_given());
  if (settings.has_known_absent) {
    report.add("known absent read",
               fmt::format("{}, of which {} in both lists", format_count(builder.known_absent_given()),
                           builder.keys_in_both_lists() == 1
                               ? "1 key is"
                               : format_count_of(builder.keys_in_both_lists(), "key") + " are"),
               "known_absent_read", builder.known_absent_given());
    report.add_member("keys_in_both_lists", builder.keys_in_both_lists());
  }
  report.add("as of", format_moment(written.view->header().as_of), "as_of", written.view->header().as_of);
  report.print();
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
