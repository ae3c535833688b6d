// Measures lookups of every filter kind with every instruction set, in sets that lie in the second-level
// cache, in the third and in memory, and builds; prints tables and checks as JSON. tools/bench/lookup runs
// it.
#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tools/bench/cache_line_cycle.hpp"
#include "tools/bench/machine.hpp"
#include "tools/bench/run_main.hpp"
#include "tools/bench/sample_set.hpp"

namespace keysieve {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kBatch = 20;

struct SetSize {
  const char* name;
  std::uint64_t bytes;
};
constexpr std::array kSetSizes{SetSize{"L2", 256 << 10}, SetSize{"L3", 16 << 20}, SetSize{"DRAM", 512 << 20}};

struct Amount {
  double seconds = 0.02;  // of one measurement
  int rounds = 9;         // of which the median counts
  std::uint32_t distinct_shards = UINT32_MAX;
};
constexpr Amount kQuick{.seconds = 0.005, .rounds = 3, .distinct_shards = 512};

// One row of a table.
struct Candidate {
  const FilterKind* kind;
  InstructionSet instructions;
};

const char* name_of(InstructionSet instructions) {
  constexpr std::array kNames{"scalar", "AVX2", "AVX-512"};
  return kNames[static_cast<std::size_t>(instructions)];
}

std::string name_of(const Candidate& candidate) {
  return fmt::format("{}, {}", candidate.kind->name, name_of(candidate.instructions));
}

// Every kind with every instruction set for which it has other lookups than for the one before.
std::vector<Candidate> candidates_of(const FilterKind& kind) {
  std::vector<Candidate> candidates;
  const FilterParams params = sample_params(kind);
  const auto function = [&](InstructionSet set) { return kind.lookup(params, set).may_contain; };
  for (const InstructionSet set : instruction_sets()) {
    if (!candidates.empty() && function(candidates.back().instructions) == function(set)) continue;
    candidates.push_back({&kind, set});
  }
  return candidates;
}

// Median nanoseconds by name of the benchmark, the time of its process alone.
class Medians : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred) throw std::runtime_error(run.error_message);
      if (run.aggregate_name == "median") nanoseconds_[run.run_name.function_name] = run.GetAdjustedCPUTime();
    }
  }

  [[nodiscard]] double nanoseconds(const std::string& name) const { return nanoseconds_.at(name); }
  [[nodiscard]] double per_key(const std::string& name) const {
    return nanoseconds(name) / static_cast<double>(kBatch);
  }

 private:
  std::map<std::string, double> nanoseconds_;
};

// How many keys are looked up in turn: more than a cache keeps lines of, and than a branch predictor learns
// by heart.
std::uint64_t query_count(std::uint64_t bytes) {
  return std::clamp<std::uint64_t>(bytes / kCacheLineBytes, 1 << 14, 1 << 22);
}

// Runs a function of the number of the first of kBatch keys, over and over.
template <typename Function>
void run_over(benchmark::State& state, std::size_t count, Function function) {
  std::size_t first = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(function(first));
    first += kBatch;
    if (first + kBatch > count) first = 0;
  }
}

std::size_t count_maybe(const std::array<bool, kBatch>& results) {
  return static_cast<std::size_t>(std::count(results.begin(), results.end(), true));
}

std::size_t look_up_one_by_one(const Lookup& lookup, const ShardArray& array, const KeyHash* hashes) {
  std::size_t maybe = 0;
  for (std::size_t i = 0; i < kBatch; ++i) maybe += lookup.may_contain(array, hashes[i]) ? 1U : 0U;
  return maybe;
}

std::size_t look_up_batch(const Lookup& lookup, const ShardArray& array, const KeyHash* hashes) {
  std::array<bool, kBatch> results;
  lookup.may_contain_many(array, {hashes, kBatch}, results.data());
  return count_maybe(results);
}

// A set of one kind, and what is asked of it.
struct Subject {
  Subject(const FilterKind& kind, std::uint64_t bytes, const Amount& amount)
      : set(kind, bytes, amount.distinct_shards), present(set.members(query_count(bytes))) {
    const Lookup lookup = kind.lookup(set.array().params, best_instruction_set());
    for (const KeyHash& member : present) {
      if (!lookup.may_contain(set.array(), member))
        throw std::runtime_error(fmt::format("{} has false negatives", kind.name));
    }
  }

  SampleSet set;
  std::vector<KeyHash> present;
};

void register_benchmark(const Amount& amount, const std::string& name,
                        std::function<void(benchmark::State&)> function) {
  benchmark::RegisterBenchmark(name.c_str(), std::move(function))
      ->MinTime(amount.seconds)
      ->Repetitions(amount.rounds)
      ->ReportAggregatesOnly(true);
}

constexpr std::array kModes{"single, absent", "single, present", "batch of 20", "20 bytes, single",
                            "20 bytes, batch"};

std::string benchmark_name(const Candidate& candidate, std::string_view mode) {
  return fmt::format("{}, {}", name_of(candidate), mode);
}

void register_lookups(const Amount& amount, const Candidate& candidate, const Subject& subject,
                      const AbsentKeys& absent) {
  const ShardArray array = subject.set.array();
  const Lookup lookup = candidate.kind->lookup(array.params, candidate.instructions);
  const auto add = [&](std::size_t mode, auto function) {
    register_benchmark(
        amount, benchmark_name(candidate, kModes.at(mode)),
        [=, count = absent.hashes.size()](benchmark::State& state) { run_over(state, count, function); });
  };
  add(0, [=, hashes = absent.hashes.data()](std::size_t first) {
    return look_up_one_by_one(lookup, array, hashes + first);
  });
  add(1, [=, hashes = subject.present.data()](std::size_t first) {
    return look_up_one_by_one(lookup, array, hashes + first);
  });
  add(2, [=, hashes = absent.hashes.data()](std::size_t first) {
    return look_up_batch(lookup, array, hashes + first);
  });
  add(3, [=, keys = &absent](std::size_t first) {
    std::size_t maybe = 0;
    for (std::size_t i = 0; i < kBatch; ++i) {
      maybe += lookup.may_contain(array, keys->hash(first + i)) ? 1U : 0U;
    }
    return maybe;
  });
  add(4, [=, keys = &absent](std::size_t first) {
    std::array<KeyHash, kBatch> hashes;
    for (std::size_t i = 0; i < kBatch; ++i) hashes[i] = keys->hash(first + i);
    return look_up_batch(lookup, array, hashes.data());
  });
}

// Builds shards one after the other from keys that are ready.
void register_build(const Amount& amount, const FilterKind& kind) {
  constexpr std::uint32_t kShards = 64;
  const FilterParams params = sample_params(kind);
  std::vector<std::vector<KeyHash>> keys;
  for (std::uint32_t shard = 0; shard < kShards; ++shard) {
    keys.push_back(sample_keys(shard, sample_keys_per_shard(kind, params)));
  }
  register_benchmark(amount, std::string(kind.name),
                     [&kind, params, keys = std::move(keys)](benchmark::State& state) {
                       std::vector<std::byte> shard(params.shard_bytes);
                       for (std::uint32_t next = 0; auto _ : state) {
                         ShardEntry entry;
                         std::fill(shard.begin(), shard.end(), std::byte{0});
                         kind.build(shard, entry, params, Effort::Normal, keys[next++ % kShards]);
                         benchmark::DoNotOptimize(shard.data());
                         benchmark::ClobberMemory();
                       }
                     });
}

Medians run_registered() {
  Medians medians;
  benchmark::RunSpecifiedBenchmarks(&medians, ".*");
  benchmark::ClearRegisteredBenchmarks();
  return medians;
}

// Three significant digits.
std::string rounded(double number) {
  const int whole_digits = number < 1.0 ? 1 : static_cast<int>(std::log10(number)) + 1;
  return fmt::format("{:.{}f}", number, std::max(3 - whole_digits, 0));
}

// What is wanted of a kind, in nanoseconds per key; 0: nothing.
struct Aim {
  std::string_view kind;
  std::string_view size;
  std::array<double, kModes.size()> most;
};
constexpr std::array kAims{
    Aim{"split_block_bloom", "L2", {1.2, 0, 1.5, 4, 0}},
    Aim{"split_block_bloom", "DRAM", {15, 0, 12, 50, 20}},
    Aim{"blocked_bloom", "L2", {1.2, 0, 1.5, 4, 0}},
    Aim{"blocked_bloom", "DRAM", {15, 0, 12, 50, 20}},
    Aim{"ribbon", "L2", {4, 0, 4, 9, 0}},
    Aim{"ribbon", "DRAM", {45, 0, 25, 85, 35}},
};

struct BuildAim {
  std::string_view kind;
  double most;  // nanoseconds per key
};
constexpr std::array kBuildAims{BuildAim{"split_block_bloom", 3.33}, BuildAim{"blocked_bloom", 3.33},
                                BuildAim{"ribbon", 41.7}};

class Report {
 public:
  explicit Report(const Amount& amount) : amount_(amount) {
    report_["settings"] = {
        fmt::format("{}, {}", processor_name(), KEYSIEVE_COMPILER),
        "keys per shard as sized for 1 % in shards of 4 KiB; absent keys; CPU time, medians of interleaved "
        "rounds",
        "20 bytes: the XXH3-128 of a string of 20 bytes is made as well",
        fmt::format("of each set {}", amount.distinct_shards == UINT32_MAX
                                          ? "every shard is built from keys of its own"
                                          : "the first shards are built, the others are copies of them"),
    };
    report_["tables"] = report_["plots"] = report_["checks"] = Json::array();
  }

  void add_lookups(const SetSize& size) {
    const AbsentKeys absent(query_count(size.bytes));
    const CacheLineCycle cycle(size.bytes);
    register_benchmark(amount_, "floor", [&cycle](benchmark::State& state) {
      std::uint32_t line = 0;
      for (auto _ : state) benchmark::DoNotOptimize(line = cycle.walk(line, kBatch));
    });
    std::vector<Candidate> candidates;
    std::map<std::string_view, Subject> subjects;
    for (const FilterKind& kind : filter_kinds()) {
      fmt::print(stderr, "{}: building {}\n", size.name, kind.name);
      const auto [subject, is_new] = subjects.try_emplace(kind.name, kind, size.bytes, amount_);
      for (const Candidate& candidate : candidates_of(kind)) {
        register_lookups(amount_, candidate, subject->second, absent);
        candidates.push_back(candidate);
      }
    }
    fmt::print(stderr, "{}: looking up\n", size.name);
    const Medians medians = run_registered();
    const double floor = medians.per_key("floor");
    std::vector<std::string> columns{"kind, instructions", "bits/key"};
    columns.insert(columns.end(), kModes.begin(), kModes.end());
    columns.emplace_back("single ÷ floor");
    Json rows = Json::array();
    for (const Candidate& candidate : candidates) {
      std::vector<std::string> row{
          name_of(candidate), fmt::format("{:.2f}", subjects.at(candidate.kind->name).set.bits_per_key())};
      for (const char* mode : kModes)
        row.push_back(rounded(medians.per_key(benchmark_name(candidate, mode))));
      row.push_back(rounded(medians.per_key(benchmark_name(candidate, kModes[0])) / floor));
      rows.push_back(row);
      if (candidate.instructions == candidates_of(*candidate.kind).back().instructions) {
        add_checks(size, candidate, medians);
      }
    }
    add_table(fmt::format("Lookups in a set of {} ({}), ns per key; the floor, one cache line whose address "
                          "depends on the one before: {} ns",
                          format_size(size.bytes), size.name, rounded(floor)),
              columns, rows);
    add_plot(size, candidates, medians);
  }

  void add_builds() {
    fmt::print(stderr, "builds\n");
    for (const FilterKind& kind : filter_kinds()) register_build(amount_, kind);
    const Medians medians = run_registered();
    Json rows = Json::array();
    for (const FilterKind& kind : filter_kinds()) {
      const double nanoseconds =
          medians.nanoseconds(std::string(kind.name)) / sample_keys_per_shard(kind, sample_params(kind));
      rows.push_back({kind.name, rounded(nanoseconds), rounded(1e3 / nanoseconds)});
      for (const BuildAim& aim : kBuildAims) {
        if (aim.kind == kind.name)
          add_check(fmt::format("build of {}, ns per key", kind.name), aim.most, nanoseconds);
      }
    }
    add_table("Builds of one shard after the other by one thread; keys are hashed, and sorted by shard",
              {"kind", "ns per key", "million keys per second"}, rows);
  }

  [[nodiscard]] const Json& json() const noexcept { return report_; }

 private:
  static std::string format_size(std::uint64_t bytes) {
    return bytes < 1 << 20 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} MiB", bytes >> 20);
  }

  void add_table(const std::string& title, const std::vector<std::string>& columns, const Json& rows) {
    report_["tables"].push_back({{"title", title}, {"columns", columns}, {"rows", rows}});
  }

  void add_check(const std::string& aim, double most, double measured) {
    report_["checks"].push_back({{"aim", aim},
                                 {"wanted", "≤ " + rounded(most)},
                                 {"measured", rounded(measured)},
                                 {"reached", measured <= most}});
  }

  void add_checks(const SetSize& size, const Candidate& candidate, const Medians& medians) {
    for (const Aim& aim : kAims) {
      if (aim.kind != candidate.kind->name || aim.size != size.name) continue;
      for (std::size_t mode = 0; mode < kModes.size(); ++mode) {
        if (aim.most.at(mode) == 0) continue;
        const std::string name = benchmark_name(candidate, kModes.at(mode));
        add_check(fmt::format("{} in {}, ns per key", name, size.name), aim.most.at(mode),
                  medians.per_key(name));
      }
    }
  }

  void add_plot(const SetSize& size, const std::vector<Candidate>& candidates, const Medians& medians) {
    Json rows = Json::array();
    for (const Candidate& candidate : candidates) {
      if (candidate.instructions != candidates_of(*candidate.kind).back().instructions) continue;
      for (const char* mode : {kModes[3], kModes[4]}) {
        rows.push_back({fmt::format("{}, {}", candidate.kind->name, mode),
                        std::stod(rounded(medians.per_key(benchmark_name(candidate, mode))))});
      }
    }
    report_["plots"].push_back(
        {{"file", fmt::format("lookup_{}_kib", size.bytes >> 10)},
         {"title", fmt::format("Lookups of absent strings in a set of {}", format_size(size.bytes))},
         {"note", "hash of 20 bytes and lookup, with the best instructions of this processor"},
         {"bars", {{"title", "ns per key"}, {"scale", "linear"}, {"rows", rows}}}});
  }

  Amount amount_;
  Json report_;
};

int run_program(int argc, char** argv) {
  CLI::App program("Measures lookups and builds of every filter kind; prints JSON.", "lookup_bench");
  bool is_quick = false;
  program.add_flag("--quick", is_quick, "Fewer and shorter rounds, sets of copied shards");
  std::string only;
  program.add_option("--only", only, "One size alone, and no builds: L2, L3 or DRAM");
  CLI11_PARSE(program, argc, argv);

  std::array<std::string, 2> arguments{"lookup_bench", "--benchmark_enable_random_interleaving=true"};
  std::array<char*, 2> pointers{arguments[0].data(), arguments[1].data()};
  int count = 2;
  benchmark::Initialize(&count, pointers.data());

  Report report(is_quick ? kQuick : Amount{});
  for (const SetSize& size : kSetSizes) {
    if (only.empty() || only == size.name) report.add_lookups(size);
  }
  if (only.empty()) report.add_builds();
  fmt::print("{}\n", report.json().dump(2));
  return 0;
}

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  return keysieve::run_main("lookup_bench", [=] { return keysieve::run_program(argc, argv); });
}
