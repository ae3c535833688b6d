// keysieve inspect: what a snapshot file says of itself, after all its checksums have been checked.
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "core/builder/base/log_positions.hpp"
#include "tools/cli/snapshot_file.hpp"
#include "tools/cli/verb.hpp"
#include "tools/records/chunk.hpp"

namespace keysieve {
namespace {

// Keys per shard: the emptiest, the mean and the fullest show whether the hash spreads as it should.
void add_shard_keys(Report& report, const SnapshotView& snapshot) {
  const ShardArray& shards = snapshot.shards();
  const std::span<const ShardEntry> entries(shards.entries, shards.shard_count);
  const auto [least, most] = std::minmax_element(
      entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key_count < b.key_count; });
  const double mean = static_cast<double>(snapshot.header().key_count) / snapshot.header().shard_count;
  report.add("keys per shard", fmt::format("{} to {}, mean {:.1f}", least->key_count, most->key_count, mean),
             "keys_per_shard", {{"least", least->key_count}, {"mean", mean}, {"most", most->key_count}});
}

// A shard far fuller than the median answers maybe too often, whatever the mean says.
void add_shard_fills(Report& report, const SnapshotView& snapshot) {
  if (snapshot.kind().fill_ratio == nullptr) return report.add_member("shard_fill_ratios", nullptr);
  std::vector<double> fills;
  for (std::uint32_t i = 0; i < snapshot.shards().shard_count; ++i) fills.push_back(*snapshot.fill_ratio(i));
  std::sort(fills.begin(), fills.end());
  const double median = fills[fills.size() / 2];
  report.add("fill of shards",
             fmt::format("{} to {}, median {}", format_share(fills.front()), format_share(fills.back()),
                         format_share(median)),
             "shard_fill_ratios", {{"least", fills.front()}, {"median", median}, {"most", fills.back()}});
}

void add_adds_from(Report& report, const LogPosition& position) {
  constexpr std::uint64_t kMilliseconds = 1000;
  const std::uint64_t seconds = milliseconds_of(position) / kMilliseconds;
  std::string shown = to_text(position);
  if (position == LogPosition{}) {
    shown += ", the whole log";
  } else if (seconds <= static_cast<std::uint64_t>(kFarthestMoment)) {
    shown += ", " + format_moment(static_cast<UnixSeconds>(seconds));
  }
  report.add("adds from", shown, "adds_from", to_text(position));
}

class InspectVerb {
 public:
  void declare(CLI::App* verb) { verb->add_option("FILE", path_, "Snapshot file")->required(); }

  int run() {
    const SnapshotFile file(path_, Check::Everything);
    const SnapshotView& snapshot = file.view();
    const SnapshotHeader& header = snapshot.header();
    check_signer(snapshot, {}, path_);
    Report report;
    report.add("file", path_ + ", all checksums right", "file", path_);
    report.add("format", std::to_string(header.format), "format", header.format);
    add_snapshot_summary(report, snapshot, snapshot.fill_ratio());
    add_shard_keys(report, snapshot);
    add_shard_fills(report, snapshot);
    report.add("seed", to_hex(header.seed));
    report.add("as of", format_moment(header.as_of), "as_of", header.as_of);
    report.add("built at", format_moment(header.built_at), "built_at", header.built_at);
    const std::string limit =
        header.valid_for == 0
            ? "no limit"
            : fmt::format("{}, until {}", format_duration(std::chrono::seconds(header.valid_for)),
                          format_moment(snapshot.valid_until()));
    report.add("valid for", limit, "valid_for_seconds", header.valid_for);
    add_adds_from(report, header.adds_from);
    const std::string profile(snapshot.key_profile());
    report.add("key profile", profile.empty() ? "none" : profile, "key_profile", profile);
    report.print();
    return 0;
  }

 private:
  std::string path_;
};

}  // namespace

extern const Verb kInspect{"inspect", "Check a snapshot file and show its header and fill",
                           "  keysieve inspect tags.ks\n"
                           "  keysieve inspect tags.ks --json | jq .estimated_fpr",
                           prepare<InspectVerb>};

}  // namespace keysieve
