// keysieve build: from a list of keys to a snapshot file.
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "core/builder/base/log_positions.hpp"
#include "core/builder/base/random.hpp"
#include "core/builder/base/run_tasks.hpp"
#include "core/builder/filters/sizing.hpp"
#include "core/builder/snapshot/builder.hpp"
#include "core/worker/base/mapped_region.hpp"
#include "core/worker/base/set_name.hpp"
#include "tools/cli/build_lists.hpp"
#include "tools/cli/snapshot_file.hpp"
#include "tools/cli/verb.hpp"
#include "tools/program/durable_file.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/guards.hpp"
#include "tools/transfer/shared_seed.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

// What is taken over from --like, the snapshot or the store of an earlier build: always the seed, and the
// rest if this set is there.
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

// Opens the store of --like; nullptr if that is a file. The first build of a store creates it, as a push
// does. It is opened to read: where it cannot be written to, a seed that it lacks is drawn all the same.
std::unique_ptr<Store> open_model_store(const std::string& like) {
  return is_url(like) ? open_given_store(like, StoreUse::Read, IfMissing::Create) : nullptr;
}

// From the store, or the file `like` if `store` is nullptr; without --like, a new seed. Warns where only the
// seed is taken. Throws as SnapshotFile and the store do.
Model model_for(const std::string& set_name, const std::string& like, Store* store) {
  if (like.empty()) return {"", random_value<HashSeed>()};
  Model model = store == nullptr ? model_in_file(like, set_name) : model_in_store(*store, set_name);
  const char* more = model.baseline ? "" : ", and --max-shrink compares with nothing";
  if (!model.geometry) print_warning(model.description + more);
  return model;
}

LogPosition parse_position(const std::string& text) {
  if (const auto position = parse_log_position(text)) return *position;
  throw Error(ErrorKind::Usage,
              "\"" + text +
                  "\" is not understood: a position is <milliseconds>-<number>, as `keysieve add` prints it");
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

class BuildVerb {
 public:
  void declare(CLI::App* verb) {
    add_text(verb, "--set NAME", settings_.set_name, "Name of the set: [a-z0-9][a-z0-9_-]{0,63}")->required();
    add_text(verb, "-o,--output FILE.ks", output_path_, "Snapshot file to write")->required();
    add_source_options(verb);
    add_shape_options(verb);
    add_resource_options(verb, resources_);
    add_guards(verb, guards_);
    verb->get_option("--max-fpr")
        ->description("Refuse a set whose estimated FPR is higher [three times --fpr, at least 0.1%]");
  }

  int run() {
    check_build_options();
    Guards guards = guards_.guards(lists_.keys.format);
    if (!guards.max_fpr) guards.max_fpr = default_max_fpr(settings_.target_fpr);
    const auto store = open_model_store(like_);
    const Model model = model_for(settings_.set_name, like_, store.get());
    if (resources_.temporary_folder.empty()) resources_.temporary_folder = folder_of(output_path_);
    ProgressLine progress("building " + settings_.set_name);
    resources_.progress = [&progress](auto done, auto total, auto what) {
      progress.show_count(done, total, what);
    };
    MapValues values(resources_.threads);
    SnapshotBuilder builder(settings_of(store.get(), model, values), resources_);
    lists_.read_into(builder, values);
    if (builder.keys_given() == 0 && guards_.limits.min_keys > 0) {
      throw Error(ErrorKind::Data, lists_.keys.source() + ": holds no keys; set " + settings_.set_name +
                                       " is not built (--min-keys 0 builds an empty one)");
    }
    Written written(output_path_, builder);
    check_guards(guards, *written.view, model.baseline);
    written.file.commit();
    say_what_was_built(store.get(), model, builder, *written.view);
    return 0;
  }

 private:
  void add_source_options(CLI::App* verb) {
    lists_.declare(verb);
    add_as_of(
        verb, as_of_,
        "When the keys began to be read from their source, on a replica the moment that it had reached: "
        "2026-11-21T07:00:00Z or @SECONDS [now]");
    auto* position = add_parsed(
        verb, "--adds-from POSITION", adds_from_, parse_position,
        "Position in the adds log after which adds may be missing from the list [--adds-overlap before "
        "--as-of, in the log of the store of --like; without a store 0-0, the whole log]");
    add_parsed(verb, "--adds-overlap DURATION", adds_overlap_, parse_duration,
               "Longest time that a transaction takes from its add to its commit, and by which clocks "
               "differ; not the lag of a replica, which belongs in --as-of [10m]")
        ->excludes(position);
  }

  void add_shape_options(CLI::App* verb) {
    const auto kind_named = [](const std::string& name) { return &filter_kind_named(name); };
    add_fpr_and_growth(verb, settings_.target_fpr, settings_.growth);
    const std::string kinds = kind_names([](const FilterKind&) { return true; });
    add_parsed(verb, "--kind KIND", kind_, kind_named,
               "Filter kind: " + kinds + " [split_block_bloom, or as --like]");
    add_parsed(verb, "--shard-size SIZE", shard_bytes_, parse_shard_bytes,
               "1KiB, 2KiB, 4KiB or 8KiB [4KiB, or as --like]");
    add_sign_key(verb, sign_key_);
    auto* like =
        add_text(verb, "--like FILE|URL", like_,
                 "Take the seed of this store, which is created if there is none, or of this snapshot. "
                 "If the set is in there, also keep its kind and, as long as the keys fit, its shards; "
                 "--max-shrink compares with it");
    verb->add_flag("--resize", resize_,
                   "Size the set for its keys again, instead of keeping the shards of --like")
        ->needs(like);
    add_parsed(
        verb, "--valid-for DURATION", settings_.valid_for,
        [](const std::string& text) {
          // Rounded up: 0 would be no limit.
          return std::chrono::ceil<std::chrono::seconds>(parse_duration(text)).count();
        },
        "How long after --as-of the set is valid; then every answer is maybe: 12h, 2d [no limit]");
    verb->add_option("--format", settings_.format,
                     "Snapshot format: " + snapshot_formats_text() +
                         "; the one before is for hosts that are not upgraded yet")
        ->type_name("N")
        ->capture_default_str();
  }

  // Before a store is touched. A list that is named as the snapshot would be replaced by it, and the keys
  // lost.
  void check_build_options() {
    checked_set_name(settings_.set_name);
    const std::vector<std::string> others{lists_.known_absent_path, guards_.required_keys_path};
    check_lists(lists_.keys, others);
    for (const std::string& list : {lists_.keys.path(), others[0], others[1]}) {
      if (list.empty() || !is_same_file(list, output_path_)) continue;
      throw Error(ErrorKind::Usage,
                  output_path_ + ": would overwrite " + key_source(list) + ", which must be read");
    }
    if (lists_.keys.is_map() && resources_.memory_bytes != kNoMemoryLimit) {
      throw Error(ErrorKind::Usage,
                  "--memory: a map is built in memory, of which it needs about 45 bytes for each key given");
    }
  }

  // The log position from which the live layer must add keys. Without a store: the whole log. Trimmed keys
  // are in an earlier build, so the position is at least where the log is trimmed to, even if the clock went
  // back. An --as-of may lie before that: then push decides.
  LogPosition adds_from_of(Store* store) {
    if (adds_from_) return *adds_from_;
    if (store == nullptr) return {};
    const std::string& set_name = settings_.set_name;
    constexpr std::int64_t kMilliseconds = 1000;
    if (as_of_) return adds_from(*store, set_name, *as_of_ * kMilliseconds, adds_overlap_);
    const LogPosition from = adds_from(*store, set_name, std::nullopt, adds_overlap_);
    // Also of a set that was deleted.
    const auto pointer = read_stored_pointer(*store, set_name);
    const LogPosition by_pointer = pointer ? pointer->adds_trimmed_to : LogPosition{};
    return std::max(from, adds_trimmed_to(*store, set_name, by_pointer));
  }

  // Kind and shard size: as asked for, else as --like, else the defaults.
  BuildSettings settings_of(Store* store, const Model& model, const MapValues& values) {
    BuildSettings settings = settings_;
    if (!resize_) settings.like = model.geometry;
    settings.signer = sign_key_.get();
    settings.seed = model.seed;
    settings.key_profile = lists_.key_profile;
    settings.has_known_absent = !lists_.known_absent_path.empty();
    settings.as_of = as_of_.value_or(unix_now());
    settings.adds_from = adds_from_of(store);
    if (model.geometry) {
      settings.kind = model.geometry->kind;
      settings.shard_bytes = model.geometry->params.shard_bytes;
    }
    if (lists_.keys.is_map()) {
      settings.kind = &filter_kind_named(kMapKindName);
      settings.values = &values;
    }
    if (kind_ != nullptr) settings.kind = kind_;
    settings.shard_bytes = shard_bytes_.value_or(settings.shard_bytes);
    return settings;
  }

  void say_what_was_built(const Store* store, const Model& model, const SnapshotBuilder& builder,
                          const SnapshotView& built) {
    Report report;
    report.add("written", output_path_, "file", output_path_);
    if (!like_.empty()) report.add("like", model.description, "like", store ? store->name() : like_);
    add_snapshot_summary(report, built, builder.fill_ratio());
    report.add("keys read", format_count(builder.keys_given()), "keys_read", builder.keys_given());
    if (!lists_.known_absent_path.empty()) {
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

  BuildLists lists_;
  std::string output_path_;
  std::string like_;  // path of a snapshot, or URL of a store
  bool resize_ = false;
  BuildSettings settings_;
  const FilterKind* kind_ = nullptr;
  std::optional<std::uint32_t> shard_bytes_;
  std::shared_ptr<const SigningKey> sign_key_;
  BuildResources resources_{.threads = usable_processors(), .temporary_folder = ""};
  std::optional<UnixSeconds> as_of_;
  std::optional<LogPosition> adds_from_;
  std::chrono::milliseconds adds_overlap_ = kDefaultAddsOverlap;
  GuardOptions guards_;
};

}  // namespace

extern const Verb kBuild{
    "build", "Build a snapshot from a list of keys",
    "  keysieve build --set tags --fpr 0.01 tags.txt -o tags.ks\n"
    "  mysql -BNe 'SELECT name FROM tags' shop | keysieve build --set tags --min-keys 50000 - -o tags.ks\n"
    "  keysieve build --set tags --like lmdb:/var/lib/keysieve --valid-for 2d tags.txt -o tags.ks\n"
    "  keysieve build --set tags --known-absent no-article.txt tags.txt -o tags.ks\n"
    "  keysieve build --set tiers --values tiers.tsv -o tiers.ks\n"
    "  keysieve build --set users --memory 800M --temp-dir /var/tmp users.txt -o users.ks\n"
    "In a script, use `set -o pipefail`: otherwise a query that fails half-way builds an incomplete set.",
    prepare<BuildVerb>};

}  // namespace keysieve
