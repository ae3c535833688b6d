// keysieve verify: every key of a list must answer maybe; absent keys give the measured FPR.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <unordered_set>

#include "core/builder/partition/shard_order.hpp"
#include "core/worker/base/error.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/snapshot_file.hpp"
#include "tools/keys/value_line.hpp"
#include "tools/program/printable.hpp"
#include "tools/program/units.hpp"
#include "tools/signatures/public_keys.hpp"

namespace keysieve {
namespace {

struct VerifyOptions {
  std::string path;
  std::string key_path;
  MapOptions map;
  std::string absent_path;
  std::string known_absent_path;
  PublicKeys public_keys;
  KeyFileFormat format;
};

struct Answers {
  std::uint64_t maybe = 0;
  std::uint64_t absent = 0;
  [[nodiscard]] std::uint64_t keys() const { return maybe + absent; }
};

// Those of which counts(hash) is false are not asked for.
template <typename Counts>
Answers ask(const SnapshotView& snapshot, const std::string& key_path, const KeyFileFormat& format,
            Counts counts) {
  Answers answers;
  ProgressLine progress("asking for " + key_source(key_path));
  read_keys(key_path, format, [&](std::string_view key) {
    const KeyHash hash = snapshot.hasher()(key);
    if (!counts(hash)) return;
    ++(snapshot.may_contain(hash) ? answers.maybe : answers.absent);
    progress.show_keys(answers.keys());
  });
  return answers;
}

struct KnownAbsent {
  std::uint64_t keys = 0;
  std::vector<KeyHash> hashes;                 // sorted; only if other absent keys are asked for
  std::unordered_set<std::uint64_t> suspects;  // maybe, and not found to be keys of the set

  [[nodiscard]] bool contains(KeyHash hash) const {
    return std::binary_search(hashes.begin(), hashes.end(), hash);
  }
};

KnownAbsent ask_known_absent(const SnapshotView& snapshot, const VerifyOptions& options) {
  KnownAbsent known;
  if (options.known_absent_path.empty()) return known;
  ProgressLine progress("asking for " + key_source(options.known_absent_path));
  read_keys(options.known_absent_path, options.format, [&](std::string_view key) {
    const KeyHash hash = snapshot.hasher()(key);
    if (snapshot.may_contain(hash)) known.suspects.insert(hash.word);
    if (!options.absent_path.empty()) known.hashes.push_back(hash);
    progress.show_keys(++known.keys);
  });
  sort_and_dedupe(known.hashes);
  return known;
}

[[noreturn]] void refuse_key(const VerifyOptions& options, std::string_view key, MapAnswer found) {
  throw Error(
      ErrorKind::Data,
      fmt::format("{}: \"{}\" {}, and not as {} says: the map was not built from this list", options.path,
                  printable(key), found == kAbsent ? "is absent" : fmt::format("has the value {}", found),
                  key_source(options.map.values_path)));
}

// Every key of the list must have its value. Returns how many keys there were.
std::uint64_t check_values(const SnapshotView& map, const VerifyOptions& options, KnownAbsent& known) {
  const std::string& path = options.map.values_path;
  std::uint64_t keys = 0;
  ProgressLine progress("asking for " + key_source(path));
  read_keys(path, options.format, [&](std::string_view line) {
    const ValueLine wanted = parse_value_line(line, options.map.value_column, key_source(path));
    const KeyHash hash = map.hasher()(wanted.key);
    const MapAnswer found = map.find(hash);
    known.suspects.erase(hash.word);
    if (found != wanted.value) refuse_key(options, wanted.key, found);
    progress.show_keys(++keys);
  });
  return keys;
}

Answers ask_present(const SnapshotView& snapshot, const VerifyOptions& options, KnownAbsent& known) {
  if (options.map.is_map()) return {.maybe = check_values(snapshot, options, known), .absent = 0};
  return ask(snapshot, options.key_path, options.format, [&](KeyHash hash) {
    known.suspects.erase(hash.word);
    return true;
  });
}

void check_inputs(const VerifyOptions& options) {
  if (options.key_path.empty() != options.map.is_map()) {
    throw Error(ErrorKind::Usage, options.key_path.empty() ? "which keys? Give --keys, or for a map --values"
                                                           : "--keys: --values has the keys of a map");
  }
  check_standard_input(
      {options.map.values_path, options.key_path, options.absent_path, options.known_absent_path});
}

void verify(const VerifyOptions& options) {
  check_inputs(options);
  const SnapshotFile file(options.path, Check::Everything);
  check_signature(file.view(), options.public_keys, options.path);
  KnownAbsent known = ask_known_absent(file.view(), options);
  if (options.map.is_map() && !file.view().is_map())
    throw Error(ErrorKind::Data, options.path + ": is no map: its keys have no values");
  const Answers present = ask_present(file.view(), options, known);
  if (present.absent != 0) {
    throw Error(
        ErrorKind::Data,
        fmt::format("{}: {} of {} from {} came back as absent: the snapshot was not built from this list",
                    options.path, format_count(present.absent), format_count_of(present.keys(), "key"),
                    key_source(options.key_path)));
  }
  const SnapshotHeader& header = file.view().header();
  if (present.keys() == 0 && header.key_count != 0)
    throw Error(
        ErrorKind::Data,
        key_source(options.map.is_map() ? options.map.values_path : options.key_path) + ": holds no keys");

  Report report;
  report.add("false negatives", "none of " + format_count_of(present.keys(), "key"), "false_negatives", 0);
  if (known.suspects.size() != 0) {
    throw Error(ErrorKind::Data,
                fmt::format("{}: {} of {} known to be absent from {} came back as maybe: the snapshot was "
                            "not built with this list as --known-absent",
                            options.path, format_count(known.suspects.size()),
                            format_count_of(known.keys, "key"), key_source(options.known_absent_path)));
  }
  if (!options.known_absent_path.empty()) {
    report.add("known absent", "all " + format_count_of(known.keys, "key") + " absent, or in the set",
               "known_absent_keys", known.keys);
  }
  if (!options.absent_path.empty()) {
    const Answers absent = ask(file.view(), options.absent_path, options.format,
                               [&](KeyHash hash) { return !known.contains(hash); });
    if (absent.keys() == 0) {
      throw Error(ErrorKind::Data, key_source(options.absent_path) + ": holds no keys" +
                                       (known.keys == 0 ? "" : " but those of --known-absent"));
    }
    const double measured = static_cast<double>(absent.maybe) / static_cast<double>(absent.keys());
    report.add("measured FPR",
               fmt::format("{}: {} of {} absent keys", format_share(measured), format_count(absent.maybe),
                           format_count(absent.keys())),
               "measured_fpr", measured);
    report.add_member("absent_keys", absent.keys());
  }
  report.add("estimated FPR", format_share(header.estimated_fpr), "estimated_fpr", header.estimated_fpr);
  report.add("target FPR", format_share(header.target_fpr), "target_fpr", header.target_fpr);
  report.print();
}

}  // namespace

void add_verify(CLI::App& program, VerbResult& /*result*/) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* verb =
      add_verb(program, "verify", "Check a snapshot file against its keys: no false negative, measured FPR",
               "  keysieve verify tags.ks --keys tags.txt\n"
               "  keysieve verify tags.ks --keys tags.txt --absent other.txt\n"
               "  keysieve verify tags.ks --keys tags.txt --known-absent no-article.txt\n"
               "  keysieve verify tiers.ks --values tiers.tsv");
  verb->add_option("FILE", options->path, "Snapshot file")->required();
  verb->add_option("--keys", options->key_path, "File of the keys it was built from; each must answer maybe")
      ->type_name("FILE");
  add_map_options(verb, options->map);
  verb->add_option(
          "--absent", options->absent_path,
          "File of keys that are not in the set, for the measured FPR; those of --known-absent do not count")
      ->type_name("FILE");
  verb->add_option("--known-absent", options->known_absent_path,
                   "File of the --known-absent keys of the build; each must be absent, or in the set")
      ->type_name("FILE");
  add_public_keys(verb, options->public_keys);
  add_key_format(verb, options->format);
  verb->callback([options] { verify(*options); });
}

}  // namespace keysieve
