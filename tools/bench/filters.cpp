// Measures every filter kind in every shard size for three target FPRs and prints a table in Markdown, as it
// stands in docs/filters.md. tools/bench/filters runs it.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <ctime>
#include <stdexcept>

#include "core/snapshot/builder.hpp"
#include "tools/bench/machine.hpp"
#include "tools/bench/run_main.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr std::array kTargets{0.01, 0.001, 0.0001};
constexpr std::array<std::uint32_t, 4> kShardBytes{1024, 2048, 4096, 8192};
constexpr std::uint64_t kSeed = 20141119;

// Each build is timed so often, and the shortest time counts.
constexpr int kBuilds = 3;

struct Amount {
  std::uint64_t keys = 1'000'000;
  std::uint64_t absent = 10'000'000;  // at the least
  std::uint64_t false_positives =
      5'000;  // expected at the least: the measured FPR's standard deviation is 1.4 %

  [[nodiscard]] std::uint64_t absent_for(double target_fpr) const {
    return std::max(absent, static_cast<std::uint64_t>(static_cast<double>(false_positives) / target_fpr));
  }
};

struct Figures {
  std::uint8_t hash_count;
  double bits_per_key;
  double estimated_fpr;
  double measured_fpr;
  double build_ns_per_key;
  double tries;  // mean over shards; 0: the kind never needs a second one
};

// Keys are numbers as 8 bytes: members from 0 on, absent ones from there on.
std::array<char, 8> key_of(std::uint64_t number) {
  std::array<char, 8> key;
  std::memcpy(key.data(), &number, sizeof number);
  return key;
}

std::string_view text_of(const std::array<char, 8>& key) {
  return {key.data(), key.size()};
}

// Of this process alone: other work on the machine does not count.
double cpu_nanoseconds() {
  return 1e9 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// How many of the keys [first, first + count) answer maybe.
std::uint64_t count_maybe(const SnapshotView& view, std::uint64_t first, std::uint64_t count) {
  constexpr std::uint64_t kBatch = 1024;
  std::array<KeyHash, kBatch> hashes;
  std::array<bool, kBatch> results;
  std::uint64_t maybe = 0;
  for (std::uint64_t done = 0; done < count; done += kBatch) {
    const std::uint64_t size = std::min(kBatch, count - done);
    for (std::uint64_t i = 0; i < size; ++i) {
      hashes[i] = hash_key(text_of(key_of(first + done + i)), view.seed());
    }
    view.may_contain_many(std::span(hashes).first(size), results.data());
    maybe += static_cast<std::uint64_t>(std::count(results.begin(), results.begin() + size, true));
  }
  return maybe;
}

double mean_tries(const ShardArray& shards) {
  std::uint64_t further = 0;
  for (std::uint32_t i = 0; i < shards.shard_count; ++i) further += shards.entries[i].seed;
  return further == 0 ? 0.0 : 1.0 + static_cast<double>(further) / static_cast<double>(shards.shard_count);
}

SnapshotBytes build(const BuildSettings& settings, std::uint64_t keys, double& shortest_ns) {
  SnapshotBuilder builder(settings);
  for (std::uint64_t i = 0; i < keys; ++i) builder.add(text_of(key_of(i)));
  const double start = cpu_nanoseconds();
  SnapshotBytes snapshot = builder.finish();
  shortest_ns = std::min(shortest_ns, cpu_nanoseconds() - start);
  return snapshot;
}

Figures measure(const FilterKind& kind, Effort effort, std::uint32_t shard_bytes, double target_fpr,
                const Amount& amount) {
  const BuildSettings settings{.set_name = "bench",
                               .kind = &kind,
                               .target_fpr = target_fpr,
                               .shard_bytes = shard_bytes,
                               .effort = effort,
                               .seed = kSeed};
  double build_ns = HUGE_VAL;
  const SnapshotBytes snapshot = build(settings, amount.keys, build_ns);
  for (int again = 1; again < kBuilds; ++again) build(settings, amount.keys, build_ns);

  const SnapshotView view = SnapshotView::decode(snapshot.get(), std::string(kind.name), Check::Everything);
  if (count_maybe(view, 0, amount.keys) != amount.keys) {
    throw std::runtime_error(fmt::format("{} has false negatives", kind.name));
  }
  const std::uint64_t absent = amount.absent_for(target_fpr);
  const auto keys = static_cast<double>(amount.keys);
  return {.hash_count = view.shards().params.hash_count,
          .bits_per_key = 8.0 * static_cast<double>(view.bytes().size() - kPageBytes) / keys,
          .estimated_fpr = view.header().estimated_fpr,
          .measured_fpr =
              static_cast<double>(count_maybe(view, amount.keys, absent)) / static_cast<double>(absent),
          .build_ns_per_key = build_ns / keys,
          .tries = mean_tries(view.shards())};
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
      "build ns/key | tries |\n|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
}

struct Candidate {
  std::string name;
  const FilterKind* kind;
  Effort effort;
};

// Every kind, and once more with the greatest effort where that makes a difference.
std::vector<Candidate> candidates() {
  std::vector<Candidate> all;
  for (const FilterKind& kind : filter_kinds()) {
    all.push_back({fmt::format("`{}`", kind.name), &kind, Effort::Normal});
    if (kind.hash_counts(Effort::Max).data() != kind.hash_counts(Effort::Normal).data()) {
      all.push_back({fmt::format("`{}`, max effort", kind.name), &kind, Effort::Max});
    }
  }
  return all;
}

void print_row(const std::string& name, std::uint32_t shard_bytes, double target_fpr,
               const Figures& figures) {
  const double bound = -std::log2(figures.measured_fpr);
  fmt::print("| {} | {} | {} KiB | {} | {:.2f} | {:.1f} % | {} | {} | {:.0f} | {} |\n",
             format_share(target_fpr), name, shard_bytes / 1024, figures.hash_count, figures.bits_per_key,
             100.0 * (figures.bits_per_key / bound - 1.0), format_share(figures.estimated_fpr),
             format_share(figures.measured_fpr), figures.build_ns_per_key,
             figures.tries == 0.0 ? "–" : fmt::format("{:.1f}", figures.tries));
  std::fflush(stdout);
}

void run(const Amount& amount) {
  print_head(amount);
  for (const double target : kTargets) {
    for (const auto& [name, kind, effort] : candidates()) {
      for (const std::uint32_t shard_bytes : kShardBytes) {
        print_row(name, shard_bytes, target, measure(*kind, effort, shard_bytes, target, amount));
      }
    }
  }
}

int run_program(int argc, char** argv) {
  CLI::App program("Measures size, FPR and build time of every filter kind.", "filters_bench");
  Amount amount;
  program.add_option("--keys", amount.keys, "Members of each set")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  program.add_option("--absent", amount.absent, "Absent keys that are asked for, at the least")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  program
      .add_option("--false-positives", amount.false_positives,
                  "False positives that are expected, at the least")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(program, argc, argv);
  run(amount);
  return 0;
}

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  return keysieve::run_main("filters_bench", [=] { return keysieve::run_program(argc, argv); });
}
