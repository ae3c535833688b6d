// Measures every filter kind in every shard size for three target FPRs and prints the Markdown table of
// docs/results/filters.md. tools/workshop/bench/filters runs it: filters_bench [--quick]
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <stdexcept>

#include "core/builder/filters/sizing.hpp"
#include "core/builder/snapshot/builder.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tools/program/units.hpp"
#include "tools/workshop/bench/program.hpp"

namespace keysieve {
namespace {

constexpr std::array kTargets{0.01, 0.001, 0.0001};
constexpr std::array<std::uint32_t, 4> kShardBytes{1024, 2048, 4096, 8192};
constexpr HashSeed kSeed{20141119};

// Number of times each build is timed; the shortest time counts.
constexpr int kBuilds = 3;

struct Amount {
  std::uint64_t keys = 1'000'000;
  std::uint64_t absent = 10'000'000;  // at least
  // Expected, at least: the measured FPR's standard deviation is then 1.4 %.
  std::uint64_t false_positives = 5'000;
};
constexpr Amount kQuick{.keys = 100'000, .absent = 100'000, .false_positives = 100};

// Keys are numbers as 8 bytes: members first, from 0 on, absent keys after them.
std::string_view key_of(const std::uint64_t& number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

// Time of this process alone: other work on the machine does not count.
double cpu_nanoseconds() {
  return 1e9 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// How many of the keys [first, first + count) come back as maybe.
std::uint64_t count_maybe(const SnapshotView& view, std::uint64_t first, std::uint64_t count) {
  constexpr std::uint64_t kBatch = 1024;
  std::array<KeyHash, kBatch> hashes;
  std::array<bool, kBatch> results;
  std::uint64_t maybe = 0;
  for (std::uint64_t done = 0; done < count; done += kBatch) {
    const std::uint64_t size = std::min(kBatch, count - done);
    for (std::uint64_t i = 0; i < size; ++i) {
      hashes[i] = view.hasher()(key_of(first + done + i));
    }
    view.may_contain_many(std::span(hashes).first(size), results.data());
    maybe += static_cast<std::uint64_t>(std::count(results.begin(), results.begin() + size, true));
  }
  return maybe;
}

SnapshotBytes build(const BuildSettings& settings, std::uint64_t keys, double& shortest_ns) {
  SnapshotBuilder builder(settings);
  for (std::uint64_t i = 0; i < keys; ++i) builder.add(key_of(i));
  const double start = cpu_nanoseconds();
  SnapshotBytes snapshot = builder.finish();
  shortest_ns = std::min(shortest_ns, cpu_nanoseconds() - start);
  return snapshot;
}

void print_row(const FilterKind& kind, std::uint32_t shard_bytes, double target_fpr, const Amount& amount) {
  const BuildSettings settings{.set_name = "bench",
                               .kind = &kind,
                               .target_fpr = target_fpr,
                               .shard_bytes = shard_bytes,
                               .seed = kSeed};
  double build_ns = HUGE_VAL;
  const SnapshotBytes snapshot = build(settings, amount.keys, build_ns);
  for (int again = 1; again < kBuilds; ++again) build(settings, amount.keys, build_ns);

  const SnapshotView view = SnapshotView::decode(snapshot.get(), std::string(kind.name), Check::Everything);
  if (count_maybe(view, 0, amount.keys) != amount.keys) {
    throw std::runtime_error(fmt::format("{} has false negatives", kind.name));
  }
  const auto enough = static_cast<std::uint64_t>(static_cast<double>(amount.false_positives) / target_fpr);
  const std::uint64_t absent = std::max(enough, amount.absent);
  const double fpr =
      static_cast<double>(count_maybe(view, amount.keys, absent)) / static_cast<double>(absent);
  const auto keys = static_cast<double>(amount.keys);
  const double bits_per_key = 8.0 * static_cast<double>(view.bytes().size() - kPageBytes) / keys;
  fmt::print("| {} | `{}` | {} KiB | {} | {:.2f} | {:.1f} % | {} | {} | {:.0f} |\n", format_share(target_fpr),
             kind.name, shard_bytes / 1024, view.shards().params.hash_count, bits_per_key,
             100.0 * (bits_per_key / -std::log2(fpr) - 1.0), format_share(view.header().estimated_fpr),
             format_share(fpr), build_ns / keys);
  std::fflush(stdout);
}

void print_head(const Amount& amount) {
  fmt::print(
      "{} keys; per row at least {} absent keys, and as many as let {} false positives be expected. {}, {}.\n"
      "Build: CPU time of sorting by shard, filling, estimated FPR and "
      "checksums; hashing comes before.\n\n",
      format_count(amount.keys), format_count(amount.absent), format_count(amount.false_positives),
      processor_name(), KEYSIEVE_COMPILER);
  fmt::print(
      "| target FPR | kind | shard | k | bits/key | over log2(1/FPR) | estimated FPR | measured FPR | "
      "build ns/key |\n|---:|---|---:|---:|---:|---:|---:|---:|---:|\n");
}

void run(const Amount& amount) {
  print_head(amount);
  for (const double target : kTargets) {
    for (const FilterKind& kind : filter_kinds()) {
      for (const std::uint32_t shard_bytes : kShardBytes) print_row(kind, shard_bytes, target, amount);
    }
  }
}

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  const bool is_quick = argc == 2 && std::string_view(argv[1]) == "--quick";
  return keysieve::run_main(is_quick ? 1 : argc, argv,
                            [=] { keysieve::run(is_quick ? keysieve::kQuick : keysieve::Amount{}); });
}
