// Runs each hot path a fixed number of times under callgrind, which writes the instructions of each into a
// dump named after the path. tools/workshop/bench/instructions runs it, and counts only the functions that it
// names.
#include <fmt/core.h>
#include <valgrind/callgrind.h>

#include "core/builder/snapshot/builder.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tools/workshop/bench/program.hpp"
#include "tools/workshop/bench/sample_set.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kLookups = 2000;
constexpr std::size_t kBatch = 20;

// Builds few shards, because callgrind makes everything fifty times slower.
constexpr std::uint32_t kDistinctShards = 4;

volatile bool answer;

void finish(const std::string& path) {
  CALLGRIND_DUMP_STATS_AT(path.c_str());
}

[[gnu::noinline]] KeyHash hash_of_20_bytes(std::string_view key, const KeyHasher& hasher) {
  return hasher(key);
}

void run_hash(const AbsentKeys& keys) {
  for (std::size_t i = 0; i < kLookups; ++i) answer = hash_of_20_bytes(keys.text(i), keys.hasher).word != 0;
  finish("hash of 20 bytes");
}

void run_single(const std::string& path, const Lookup& lookup, const ShardArray& array,
                std::span<const KeyHash> hashes) {
  for (const KeyHash& hash : hashes) answer = lookup.may_contain(array, hash);
  finish(path);
}

void run_batches(const std::string& path, const Lookup& lookup, const ShardArray& array,
                 std::span<const KeyHash> hashes) {
  for (; hashes.size() >= kBatch; hashes = hashes.subspan(kBatch)) {
    std::array<bool, kBatch> results;
    lookup.may_contain_many(array, hashes.first(kBatch), results.data());
    answer = results[0];
  }
  finish(path);
}

void run_lookups(std::string_view name, const FilterKind& kind, double target_fpr, const AbsentKeys& absent) {
  const SampleShard shard(kind, target_fpr);
  const SampleSet small(shard, 256 << 10, kDistinctShards);
  const SampleSet large(shard, 32 << 20, kDistinctShards);
  const std::vector<KeyHash> present = small.members(kLookups);
  const FilterParams& params = shard.params;
  std::vector<std::pair<InstructionSet, std::string>> sets{{InstructionSet::Scalar, "scalar"}};
  const Lookup avx2 = kind.lookup(params, InstructionSet::Avx2);
  if (avx2.may_contain != kind.lookup(params, InstructionSet::Scalar).may_contain) {
    sets.emplace_back(InstructionSet::Avx2, "AVX2");
  }
  for (const auto& [set, set_name] : sets) {
    const Lookup lookup = kind.lookup(params, set);
    const auto path = [&, &of = set_name](std::string_view what) {
      return fmt::format("{}, {}, {}", name, of, what);
    };
    run_single(path("absent key"), lookup, small.array(), absent.hashes);
    run_single(path("present key"), lookup, small.array(), present);
    run_batches(path("batch, 256 KiB"), lookup, small.array(), absent.hashes);
    run_batches(path("batch, 32 MiB"), lookup, large.array(), absent.hashes);
  }
}

// A set that knows as many absent keys as it has keys.
void run_known_absent(const std::string& name, const AbsentKeys& absent) {
  constexpr int kKeys = 20'000;
  BuildSettings settings;
  settings.set_name = "known-absent";
  settings.kind = &filter_kind_named(name);
  settings.has_known_absent = true;
  SnapshotBuilder builder(settings);
  const KeyHasher hasher(settings.seed);
  std::vector<KeyHash> present;
  for (int i = 0; i < kKeys; ++i) {
    const std::string key = std::to_string(i);
    const std::string other = std::to_string(-i - 1);
    const std::string_view known_absent = other;
    builder.add(key);
    builder.add_known_absent(0, {&known_absent, 1});
    if (present.size() < kLookups) present.push_back(hasher(key));
  }
  const SnapshotBytes bytes = builder.finish();
  CALLGRIND_ZERO_STATS;  // the build looks known-absent keys up
  const SnapshotView view = SnapshotView::decode(bytes.get(), name, Check::Tables);
  const Lookup lookup = settings.kind->lookup(view.shards().params, InstructionSet::Avx2);
  run_single(name + " with known-absent keys, AVX2, absent key", lookup, view.shards(), absent.hashes);
  run_single(name + " with known-absent keys, AVX2, present key", lookup, view.shards(), present);
  run_batches(name + " with known-absent keys, AVX2, batch of absent keys", lookup, view.shards(),
              absent.hashes);
  run_batches(name + " with known-absent keys, AVX2, batch of present keys", lookup, view.shards(), present);
}

void run() {
  const AbsentKeys absent(kLookups);
  run_hash(absent);
  for (const FilterKind& kind : filter_kinds()) run_lookups(kind.name, kind, 0.01, absent);
  run_lookups("ribbon of 0.1 %", filter_kind_named("ribbon"), 0.001, absent);
  for (const char* kind : {"split_block_bloom", "ribbon"}) run_known_absent(kind, absent);
}

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  return keysieve::run_main(argc, argv, keysieve::run);
}
