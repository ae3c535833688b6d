// keysieve verify: every key of a list must answer maybe; absent keys give the measured FPR.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <unordered_set>

#include "core/builder/partition/shard_order.hpp"
#include "core/worker/base/error.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/progress.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/snapshot_file.hpp"
#include "tools/cli/verbs.hpp"
#include "tools/program/units.hpp"
#include "tools/signatures/verify.hpp"

namespace keysieve {
namespace {

struct VerifyOptions {
  std::string path;
  std::string key_path;
  std::string absent_path;
  std::string known_absent_path;
  PublicKeys public_keys;
  KeyFileFormat format;
  bool json = false;
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

void check_inputs(const VerifyOptions& options) {
  const std::array paths{options.key_path, options.absent_path, options.known_absent_path};
  if (std::ranges::count(paths, "-") > 1)
    throw Error(ErrorKind::Usage, "standard input can be one of the lists, not several");
}

void verify(const VerifyOptions& options) {
  check_inputs(options);
  const SnapshotFile file(options.path, Check::Everything);
  check_signature(file.view(), options.public_keys, options.path);
  KnownAbsent known = ask_known_absent(file.view(), options);
  const Answers present = ask(file.view(), options.key_path, options.format, [&](KeyHash hash) {
    known.suspects.erase(hash.word);
    return true;
  });
  if (present.absent != 0) {
    throw Error(
        ErrorKind::Data,
        fmt::format("{}: {} of {} from {} came back as absent: the snapshot was not built from this list",
                    options.path, format_count(present.absent), format_count_of(present.keys(), "key"),
                    key_source(options.key_path)));
  }
  const bool is_empty_set = file.view().header().key_count == 0;
  if (present.keys() == 0 && !is_empty_set)
    throw Error(ErrorKind::Data, key_source(options.key_path) + ": holds no keys");

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
  report.add("estimated FPR", format_share(file.view().header().estimated_fpr), "estimated_fpr",
             file.view().header().estimated_fpr);
  report.add("target FPR", format_share(file.view().header().target_fpr), "target_fpr",
             file.view().header().target_fpr);
  report.print(options.json);
}

}  // namespace

void add_verify(CLI::App& program, VerbResult& /*result*/) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* verb =
      add_verb(program, "verify", "Check a snapshot file against its keys: no false negative, measured FPR",
               "  keysieve verify tags.ks --keys tags.txt\n"
               "  keysieve verify tags.ks --keys tags.txt --absent other.txt\n"
               "  keysieve verify tags.ks --keys tags.txt --known-absent no-article.txt");
  verb->add_option("FILE", options->path, "Snapshot file")->required();
  verb->add_option("--keys", options->key_path, "File of the keys it was built from; each must answer maybe")
      ->required()
      ->type_name("FILE");
  verb->add_option(
          "--absent", options->absent_path,
          "File of keys that are not in the set, for the measured FPR; those of --known-absent do not count")
      ->type_name("FILE");
  verb->add_option("--known-absent", options->known_absent_path,
                   "File of the --known-absent keys of the build; each must be absent, or in the set")
      ->type_name("FILE");
  add_public_keys(verb, options->public_keys);
  add_key_format(verb, options->format);
  add_json(verb, options->json);
  verb->callback([options] { verify(*options); });
}

}  // namespace keysieve
