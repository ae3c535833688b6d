// Measures lookups of every filter kind with every instruction set, in sets that fit the second-level cache,
// the third, and only memory, and prints nanoseconds per key as tables in Markdown. tools/workshop/bench/run
// runs it.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>

#include "tools/workshop/bench/program.hpp"
#include "tools/workshop/bench/sample_set.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kBatch = 20;
constexpr std::array kModes{"single, absent", "single, present", "batch of 20", "20 bytes, single",
                            "20 bytes, batch"};
constexpr std::array kInstructions{"scalar", "AVX2", "Neon"};

struct Room {
  std::uint64_t bytes;
  const char* name;
};
constexpr std::array kRooms{Room{256 << 10, "256 KiB (L2)"}, Room{16 << 20, "16 MiB (L3)"},
                            Room{512 << 20, "512 MiB (DRAM)"}};

constexpr double kSeconds = 0.02;  // per measurement
constexpr int kRounds = 9;         // the median counts

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
  std::map<std::string, double> medians() {
    std::mt19937_64 random(entries_.size());
    for (int round = 0; round < kRounds; ++round) {
      std::shuffle(entries_.begin(), entries_.end(), random);
      for (Entry& entry : entries_) entry.nanoseconds.push_back(nanoseconds(entry.repeat));
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
  static double nanoseconds(const Repeat& repeat) {
    for (std::size_t times = 1;; times *= 2) {
      const std::clock_t began = std::clock();
      repeat(times);
      const double seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
      if (seconds >= kSeconds / 2) return 1e9 * seconds / static_cast<double>(times);
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
  Subject(const SampleShard& shard, std::uint64_t bytes)
      : set(shard, bytes), present(set.members(query_count(bytes))) {
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
  add_single(kModes[0], [hashes = absent.hashes.data()](std::size_t i) { return hashes[i]; });
  add_single(kModes[1], [hashes = subject.present.data()](std::size_t i) { return hashes[i]; });
  add(kModes[2], [=, hashes = absent.hashes.data()](std::size_t first) { return batch(hashes + first); });
  add_single(kModes[3], [keys = &absent](std::size_t i) { return keys->hash(i); });
  add(kModes[4], [=, keys = &absent](std::size_t first) {
    std::array<KeyHash, kBatch> hashes;
    for (std::size_t i = 0; i < kBatch; ++i) hashes[i] = keys->hash(first + i);
    return batch(hashes.data());
  });
}

std::string row_of(const FilterKind& kind, InstructionSet set) {
  return fmt::format("{}, {}", kind.name, kInstructions.at(static_cast<std::size_t>(set)));
}

// Nanoseconds per key, for the floor and for every kind and instruction set.
void print_lookups(const Room& room) {
  const AbsentKeys absent(query_count(room.bytes));
  const std::vector<Line> cycle = cycle_of_lines(room.bytes);
  Rounds rounds;
  rounds.add("floor", [&](std::size_t times) {
    std::uint32_t line = 0;
    for (std::size_t step = 0; step < times * kBatch; ++step) line = cycle[line].next;
    keep(line);
  });
  std::map<std::string_view, Subject> subjects;
  for (const FilterKind& kind : filter_kinds()) {
    fmt::print(stderr, "{}: building {}\n", room.name, kind.name);
    const SampleShard shard(kind);
    const Subject& subject = subjects.try_emplace(kind.name, shard, room.bytes).first->second;
    for (const InstructionSet set : instruction_sets_of(kind))
      add_lookups(rounds, row_of(kind, set), kind.lookup(shard.params, set), subject, absent);
  }
  fmt::print(stderr, "{}: looking up\n", room.name);
  auto medians = rounds.medians();
  const auto figure = [&](const std::string& name) {
    return fmt::format("{:.3g}", medians.at(name) / kBatch);
  };
  fmt::print(
      "**Lookups in a set of {}, ns per key; one cache line whose address depends on the one before: {} "
      "ns**\n\n"
      "| kind, instructions | bits/key | {} |\n|---|---:|---:|---:|---:|---:|---:|\n",
      room.name, figure("floor"), fmt::join(kModes, " | "));
  for (const FilterKind& kind : filter_kinds()) {
    for (const InstructionSet set : instruction_sets_of(kind)) {
      fmt::print("| {} | {:.2f}", row_of(kind, set), subjects.at(kind.name).set.bits_per_key());
      for (const char* mode : kModes) fmt::print(" | {}", figure(row_of(kind, set) + mode));
      fmt::print(" |\n");
    }
  }
  fmt::print("\n");
}

void run() {
  for (const Room& room : kRooms) print_lookups(room);
  fmt::print(
      "- {}, {}\n"
      "- keys per shard as sized for 1 % in shards of 4 KiB; absent keys; CPU time, medians of interleaved "
      "rounds\n"
      "- 20 bytes: the XXH3-64 of a string of 20 bytes is made as well\n"
      "- each shard of a set is built from its own keys\n",
      processor_name(), KEYSIEVE_COMPILER);
}

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  return keysieve::run_main(argc, argv, keysieve::run);
}
