// Measures lookups of every filter kind with every instruction set, in sets that fit the second-level cache,
// the third, and only memory. Prints nanoseconds per key as JSON; tools/workshop/bench/lookup.php makes
// tables of it. lookup_bench [--quick]
#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <stdexcept>

#include "tools/workshop/bench/program.hpp"
#include "tools/workshop/bench/sample_set.hpp"

namespace keysieve {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kBatch = 20;
constexpr std::array kSetBytes{std::uint64_t{256} << 10, std::uint64_t{16} << 20, std::uint64_t{512} << 20};

struct Amount {
  double seconds = 0.02;  // per measurement
  int rounds = 9;         // the median counts
  std::uint32_t built_shards = UINT32_MAX;
};
constexpr Amount kQuick{.seconds = 0.005, .rounds = 3, .built_shards = 512};

// Keeps the compiler from removing the computation of this value.
template <typename Value>
void keep(const Value& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

// The measured functions take turns, in another order each round. Times are those of this process alone.
class Rounds {
 public:
  using Repeat = std::function<void(std::size_t times)>;

  void add(const std::string& name, Repeat repeat) { entries_.push_back({name, std::move(repeat), {}}); }

  // Median nanoseconds of one repetition, by name.
  std::map<std::string, double> medians(const Amount& amount) {
    std::mt19937_64 random(entries_.size());
    for (int round = 0; round < amount.rounds; ++round) {
      std::shuffle(entries_.begin(), entries_.end(), random);
      for (Entry& entry : entries_) entry.nanoseconds.push_back(nanoseconds(entry.repeat, amount.seconds));
    }
    std::map<std::string, double> medians;
    for (auto& [name, repeat, values] : entries_) {
      std::sort(values.begin(), values.end());
      medians[name] = values[values.size() / 2];
    }
    return medians;
  }

 private:
  struct Entry {
    std::string name;
    Repeat repeat;
    std::vector<double> nanoseconds;
  };

  // Doubles the repetitions until they take long enough; the earlier ones serve as warm-up.
  static double nanoseconds(const Repeat& repeat, double least_seconds) {
    for (std::size_t times = 1;; times *= 2) {
      const std::clock_t began = std::clock();
      repeat(times);
      const double seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
      if (seconds >= least_seconds / 2) return 1e9 * seconds / static_cast<double>(times);
    }
  }

  std::vector<Entry> entries_;
};

// The floor under every lookup: reading one cache line after the other, where each holds the address of the
// next; all lines of an array form one cycle of random order.
struct alignas(kCacheLineBytes) Line {
  std::uint32_t next;
};

std::vector<Line> cycle_of_lines(std::uint64_t bytes) {
  std::vector<Line> lines(bytes / kCacheLineBytes);
  std::vector<std::uint32_t> order(lines.size());
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(bytes));
  for (std::size_t i = 0; i < order.size(); ++i) lines[order[i]].next = order[(i + 1) % order.size()];
  return lines;
}

// Instruction sets for which a kind has its own lookups, different from those for the one before.
std::vector<InstructionSet> instruction_sets_of(const FilterKind& kind) {
  std::vector<InstructionSet> sets;
  const auto function = [&](InstructionSet set) { return kind.lookup({}, set).may_contain; };
  for (const InstructionSet set : instruction_sets()) {
    if (sets.empty() || function(sets.back()) != function(set)) sets.push_back(set);
  }
  return sets;
}

// How many keys are looked up in turn: more than a cache keeps lines, and more than a branch predictor can
// learn.
std::uint64_t query_count(std::uint64_t bytes) {
  return std::clamp<std::uint64_t>(bytes / kCacheLineBytes, 1 << 14, 1 << 22);
}

// A set of one kind, and keys of it.
struct Subject {
  Subject(const SampleShard& shard, std::uint64_t bytes, std::uint32_t built_shards)
      : set(shard, bytes, built_shards), present(set.members(query_count(bytes))) {
    const Lookup lookup = shard.kind->lookup(shard.params, best_instruction_set());
    for (const KeyHash& member : present) {
      if (!lookup.may_contain(set.array(), member))
        throw std::runtime_error(fmt::format("{} has false negatives", shard.kind->name));
    }
  }

  SampleSet set;
  std::vector<KeyHash> present;
};

void add_lookups(Rounds& rounds, const std::string& name, const Lookup& lookup, const Subject& subject,
                 const AbsentKeys& absent) {
  // `look_up` takes the number of the first of kBatch keys, going round from 0.
  const auto add = [&](const char* mode, auto look_up) {
    rounds.add(name + mode, [look_up, count = absent.hashes.size()](std::size_t times) {
      for (std::size_t first = 0; times-- > 0; first = first + 2 * kBatch > count ? 0 : first + kBatch)
        keep(look_up(first));
    });
  };
  const auto add_single = [&, array = subject.set.array()](const char* mode, auto hash_at) {
    add(mode, [=](std::size_t first) {
      std::size_t maybe = 0;
      for (std::size_t i = first; i < first + kBatch; ++i)
        maybe += lookup.may_contain(array, hash_at(i)) ? 1U : 0U;
      return maybe;
    });
  };
  const auto batch = [lookup, array = subject.set.array()](const KeyHash* hashes) {
    std::array<bool, kBatch> results;
    lookup.may_contain_many(array, {hashes, kBatch}, results.data());
    return std::count(results.begin(), results.end(), true);
  };
  add_single("single, absent", [hashes = absent.hashes.data()](std::size_t i) { return hashes[i]; });
  add_single("single, present", [hashes = subject.present.data()](std::size_t i) { return hashes[i]; });
  add("batch of 20", [=, hashes = absent.hashes.data()](std::size_t first) { return batch(hashes + first); });
  add_single("20 bytes, single", [keys = &absent](std::size_t i) { return keys->hash(i); });
  add("20 bytes, batch", [=, keys = &absent](std::size_t first) {
    std::array<KeyHash, kBatch> hashes;
    for (std::size_t i = 0; i < kBatch; ++i) hashes[i] = keys->hash(first + i);
    return batch(hashes.data());
  });
}

// Nanoseconds per key, for the floor and for every kind and instruction set.
Json lookups(std::uint64_t bytes, const Amount& amount) {
  const AbsentKeys absent(query_count(bytes));
  const std::vector<Line> cycle = cycle_of_lines(bytes);
  Rounds rounds;
  rounds.add("floor", [&](std::size_t times) {
    std::uint32_t line = 0;
    for (std::size_t step = 0; step < times * kBatch; ++step) line = cycle[line].next;
    keep(line);
  });
  std::map<std::string, Subject> subjects;
  for (const FilterKind& kind : filter_kinds()) {
    fmt::print(stderr, "{} bytes: building {}\n", bytes, kind.name);
    const SampleShard shard(kind);
    const std::string name(kind.name);
    const Subject& subject = subjects.try_emplace(name, shard, bytes, amount.built_shards).first->second;
    for (const InstructionSet set : instruction_sets_of(kind)) {
      const std::string path = fmt::format("{}|{}|", name, static_cast<int>(set));
      add_lookups(rounds, path, kind.lookup(shard.params, set), subject, absent);
    }
  }
  fmt::print(stderr, "{} bytes: looking up\n", bytes);
  Json result{{"bytes", bytes}};
  for (const auto& [name, subject] : subjects) result["bits_per_key"][name] = subject.set.bits_per_key();
  for (const auto& [name, median] : rounds.medians(amount)) result["ns"][name] = median / kBatch;
  return result;
}

void run(const Amount& amount) {
  Json report{{"machine", fmt::format("{}, {}", processor_name(), KEYSIEVE_COMPILER)}};
  for (const FilterKind& kind : filter_kinds()) {
    for (const InstructionSet set : instruction_sets_of(kind))
      report["kinds"][std::string(kind.name)].push_back(static_cast<int>(set));
  }
  for (const std::uint64_t bytes : kSetBytes) report["sizes"].push_back(lookups(bytes, amount));
  fmt::print("{}\n", report.dump(2));
}

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  return keysieve::run_main(
      argc, argv, [](bool is_quick) { keysieve::run(is_quick ? keysieve::kQuick : keysieve::Amount{}); });
}
