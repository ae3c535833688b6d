// keysieve verify: every key of a list must answer maybe; absent keys give the measured FPR.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <unordered_set>

#include "core/base/error.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/progress.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/snapshot_file.hpp"
#include "tools/cli/verbs.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

struct VerifyOptions {
  std::string path;
  std::string key_path;
  std::string absent_path;
  std::string known_absent_path;
  KeyFileFormat format;
  bool json = false;
};

struct Answers {
  std::uint64_t maybe = 0;
  std::uint64_t absent = 0;
  [[nodiscard]] std::uint64_t keys() const { return maybe + absent; }
};

template <typename OnKey>
Answers ask(const SnapshotView& snapshot, const std::string& key_path, const KeyFileFormat& format,
            OnKey on_key) {
  Answers answers;
  ProgressLine progress("asking for " + key_source(key_path));
  read_keys(key_path, format, [&](std::string_view key) {
    const KeyHash hash = hash_key(key, snapshot.seed());
    on_key(hash);
    ++(snapshot.may_contain(hash) ? answers.maybe : answers.absent);
    progress.show_keys(answers.keys());
  });
  return answers;
}

// Known-absent keys that came back as maybe, and are not found to be keys of the set.
class Suspects {
 public:
  void take(KeyHash hash) { hashes_.insert(hash.word); }
  void clear(KeyHash hash) { hashes_.erase(hash.word); }
  [[nodiscard]] std::uint64_t count() const { return hashes_.size(); }

 private:
  std::unordered_set<std::uint64_t> hashes_;
};

std::uint64_t ask_known_absent(const SnapshotView& snapshot, const VerifyOptions& options,
                               Suspects& suspects) {
  std::uint64_t keys = 0;
  ProgressLine progress("asking for " + key_source(options.known_absent_path));
  read_keys(options.known_absent_path, options.format, [&](std::string_view key) {
    const KeyHash hash = hash_key(key, snapshot.seed());
    if (snapshot.may_contain(hash)) suspects.take(hash);
    progress.show_keys(++keys);
  });
  return keys;
}

void verify(const VerifyOptions& options) {
  const SnapshotFile file(options.path, Check::Everything);
  Suspects suspects;
  std::uint64_t known_absent = 0;
  if (!options.known_absent_path.empty()) known_absent = ask_known_absent(file.view(), options, suspects);
  const Answers present =
      ask(file.view(), options.key_path, options.format, [&](KeyHash hash) { suspects.clear(hash); });
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
  if (suspects.count() != 0) {
    throw Error(ErrorKind::Data,
                fmt::format("{}: {} of {} known to be absent from {} came back as maybe: the snapshot was "
                            "not built with this list as --known-absent",
                            options.path, format_count(suspects.count()),
                            format_count_of(known_absent, "key"), key_source(options.known_absent_path)));
  }
  if (!options.known_absent_path.empty()) {
    report.add("known absent", "all " + format_count_of(known_absent, "key") + " absent, or in the set",
               "known_absent_keys", known_absent);
  }
  if (!options.absent_path.empty()) {
    const Answers absent = ask(file.view(), options.absent_path, options.format, [](KeyHash) {});
    if (absent.keys() == 0) throw Error(ErrorKind::Data, key_source(options.absent_path) + ": holds no keys");
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

void add_verify(CLI::App& program, Outcome& /*outcome*/) {
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
  verb->add_option("--absent", options->absent_path,
                   "File of keys that are not in the set, for the measured FPR")
      ->type_name("FILE");
  verb->add_option("--known-absent", options->known_absent_path,
                   "File of the --known-absent keys of the build; each must be absent, or in the set")
      ->type_name("FILE");
  add_key_format(verb, options->format);
  add_json(verb, options->json);
  verb->callback([options] { verify(*options); });
}

}  // namespace keysieve
