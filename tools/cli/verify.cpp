// keysieve verify: every key of a list must answer maybe; absent keys give the measured FPR.
#include <fmt/core.h>

#include <algorithm>
#include <unordered_set>

#include "core/builder/partition/shard_order.hpp"
#include "tools/cli/snapshot_file.hpp"
#include "tools/cli/verb.hpp"
#include "tools/keys/value_line.hpp"
#include "tools/program/printable.hpp"
#include "tools/signatures/public_keys.hpp"

namespace keysieve {
namespace {

// Calls `on_line` for each line of a list, and shows how far it is. Returns how many there were.
template <typename OnLine>
std::uint64_t read_lines(const std::string& path, const KeyFileFormat& format, OnLine on_line) {
  ProgressLine progress("asking for " + key_source(path));
  std::uint64_t lines = 0;
  read_keys(path, format, [&](std::string_view line) {
    on_line(line);
    progress.show_keys(++lines);
  });
  return lines;
}

struct KnownAbsent {
  std::uint64_t keys = 0;
  std::vector<KeyHash> hashes;                 // sorted; only if other absent keys are asked for
  std::unordered_set<std::uint64_t> suspects;  // maybe, and not found to be keys of the set
};

class VerifyVerb {
 public:
  void declare(CLI::App* verb) {
    verb->add_option("FILE", path_, "Snapshot file")->required();
    add_key_list(verb, "--keys FILE", "File of the keys it was built from; each must answer maybe", keys_);
    add_text(
        verb, "--absent FILE", absent_path_,
        "File of keys that are not in the set, for the measured FPR; those of --known-absent do not count");
    add_text(verb, "--known-absent FILE", known_absent_path_,
             "File of the --known-absent keys of the build; each must be absent, or in the set");
    add_public_keys(verb, public_keys_);
  }

  int run() {
    check_lists(keys_, {absent_path_, known_absent_path_});
    const SnapshotFile file(path_, Check::Everything);
    check_signature(file.view(), public_keys_, path_);
    KnownAbsent known = ask_known_absent(file.view());
    const std::uint64_t keys = check_keys(file.view(), known);
    if (!known.suspects.empty()) {
      throw Error(ErrorKind::Data,
                  fmt::format("{}: {} of {} known to be absent from {} came back as maybe: the snapshot was "
                              "not built with this list as --known-absent",
                              path_, format_count(known.suspects.size()), format_count_of(known.keys, "key"),
                              key_source(known_absent_path_)));
    }
    Report report;
    report.add("false negatives", "none of " + format_count_of(keys, "key"), "false_negatives", 0);
    if (!known_absent_path_.empty()) {
      report.add("known absent", "all " + format_count_of(known.keys, "key") + " absent, or in the set",
                 "known_absent_keys", known.keys);
    }
    if (!absent_path_.empty()) add_measured_fpr(report, file.view(), known);
    const SnapshotHeader& header = file.view().header();
    report.add("estimated FPR", format_share(header.estimated_fpr), "estimated_fpr", header.estimated_fpr);
    report.add("target FPR", format_share(header.target_fpr), "target_fpr", header.target_fpr);
    report.print();
    return 0;
  }

 private:
  KnownAbsent ask_known_absent(const SnapshotView& snapshot) {
    KnownAbsent known;
    if (known_absent_path_.empty()) return known;
    known.keys = read_lines(known_absent_path_, keys_.format, [&](std::string_view key) {
      const KeyHash hash = snapshot.hasher()(key);
      if (snapshot.may_contain(hash)) known.suspects.insert(hash.word);
      if (!absent_path_.empty()) known.hashes.push_back(hash);
    });
    sort_and_dedupe(known.hashes);
    return known;
  }

  // Every key of a map must have its value.
  void check_value(std::string_view key, MapAnswer found, MapAnswer wanted) {
    if (found == wanted) return;
    throw Error(
        ErrorKind::Data,
        fmt::format("{}: \"{}\" {}, and not as {} says: the map was not built from this list", path_,
                    printable(key), found == kAbsent ? "is absent" : fmt::format("has the value {}", found),
                    keys_.source()));
  }

  // Returns how many keys there were. Strikes them off the suspects.
  std::uint64_t check_keys(const SnapshotView& snapshot, KnownAbsent& known) {
    const KeyList& list = keys_;
    if (list.is_map() && !snapshot.is_map())
      throw Error(ErrorKind::Data, path_ + ": is no map: its keys have no values");
    std::uint64_t absent = 0;
    const std::uint64_t keys = read_lines(list.path(), list.format, [&](std::string_view line) {
      const ValueLine wanted =
          list.is_map() ? parse_value_line(line, list.value_column, list.source()) : ValueLine{.key = line};
      const KeyHash hash = snapshot.hasher()(wanted.key);
      known.suspects.erase(hash.word);
      if (list.is_map()) check_value(wanted.key, snapshot.find(hash), wanted.value);
      if (!snapshot.may_contain(hash)) ++absent;
    });
    if (absent != 0) {
      throw Error(
          ErrorKind::Data,
          fmt::format("{}: {} of {} from {} came back as absent: the snapshot was not built from this list",
                      path_, format_count(absent), format_count_of(keys, "key"), list.source()));
    }
    if (keys == 0 && snapshot.header().key_count != 0)
      throw Error(ErrorKind::Data, list.source() + ": holds no keys");
    return keys;
  }

  void add_measured_fpr(Report& report, const SnapshotView& snapshot, const KnownAbsent& known) {
    std::uint64_t maybe = 0;
    std::uint64_t keys = 0;
    read_lines(absent_path_, keys_.format, [&](std::string_view key) {
      const KeyHash hash = snapshot.hasher()(key);
      if (std::ranges::binary_search(known.hashes, hash)) return;
      ++keys;
      if (snapshot.may_contain(hash)) ++maybe;
    });
    if (keys == 0) {
      throw Error(ErrorKind::Data, key_source(absent_path_) + ": holds no keys" +
                                       (known.keys == 0 ? "" : " but those of --known-absent"));
    }
    const double measured = static_cast<double>(maybe) / static_cast<double>(keys);
    report.add("measured FPR",
               fmt::format("{}: {} of {} absent keys", format_share(measured), format_count(maybe),
                           format_count(keys)),
               "measured_fpr", measured);
    report.add_member("absent_keys", keys);
  }

  std::string path_;
  KeyList keys_;
  std::string absent_path_;
  std::string known_absent_path_;
  PublicKeys public_keys_;
};

}  // namespace

extern const Verb kVerify{"verify", "Check a snapshot file against its keys: no false negative, measured FPR",
                          "  keysieve verify tags.ks --keys tags.txt\n"
                          "  keysieve verify tags.ks --keys tags.txt --absent other.txt\n"
                          "  keysieve verify tags.ks --keys tags.txt --known-absent no-article.txt\n"
                          "  keysieve verify tiers.ks --values tiers.tsv",
                          prepare<VerifyVerb>};

}  // namespace keysieve
