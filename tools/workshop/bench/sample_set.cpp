#include "tools/workshop/bench/sample_set.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>
#include <thread>

#include "core/builder/filters/retrieval.hpp"
#include "core/builder/partition/shard_order.hpp"
#include "core/worker/hash/key_hash.hpp"

namespace keysieve {
namespace {

constexpr std::uint64_t kSizedKeys = 100'000'000;

KeyHash sample_key(const HashRange& shard, std::uint32_t key) {
  const std::uint64_t random = fold((shard.first.word ^ key) ^ kA, 0x8EBC6AF09C88C6E3);  // also from wyhash
  return {shard.first.word + random % (shard.last.word - shard.first.word)};
}

}  // namespace

SampleShard::SampleShard(const FilterKind& of, double target_fpr, bool with_known_absent) : kind(&of) {
  const Geometry geometry = size_filter(
      of, {.keys = kSizedKeys, .target_fpr = target_fpr, .known_absent = with_known_absent ? kSizedKeys : 0});
  params = geometry.params;
  keys = static_cast<std::uint32_t>(kSizedKeys / geometry.shard_count);
}

std::vector<KeyHash> sample_keys(std::uint32_t shard, std::uint32_t shard_count, std::uint32_t keys) {
  const HashRange range = range_of_shards(shard, shard + 1, shard_count);
  std::vector<KeyHash> hashes(keys);
  for (std::uint32_t i = 0; i < keys; ++i) hashes[i] = sample_key(range, i);
  return hashes;
}

SampleSet::SampleSet(const SampleShard& shard, std::uint64_t bytes, std::uint32_t built_shards)
    : shard_(shard),
      shard_count_(static_cast<std::uint32_t>(bytes / shard.params.stride())),
      built_shards_(std::min(built_shards, shard_count_)),
      shards_(bytes),
      entries_(shard_count_),
      seeds_(shard_count_) {
  {
    const std::uint32_t half = built_shards_ / 2;
    const std::jthread other([this, half] { build(0, half); });
    build(half, built_shards_);
  }
  const std::uint32_t stride = shard.params.stride();
  for (std::uint32_t index = built_shards_; index < shard_count_; ++index) {
    const std::uint32_t model = index % built_shards_;
    entries_[index] = entries_[model];
    seeds_[index] = seeds_[model];
    std::memcpy(shards_.get().data() + std::uint64_t{index} * stride, array().shard(model), stride);
  }
}

void SampleSet::build(std::uint32_t first, std::uint32_t end) {
  const FilterParams& params = shard_.params;
  for (std::uint32_t index = first; index < end; ++index) {
    const MutableBytes bytes = shards_.get().subspan(std::uint64_t{index} * params.stride(), params.stride());
    const std::vector<KeyHash> keys = sample_keys(index, shard_count_, shard_.keys);
    shard_.kind->build(bytes.first(params.shard_bytes), entries_[index], params, keys);
    if (params.retrieval_bytes != 0) build_second_level(index, bytes.subspan(params.shard_bytes), keys);
  }
}

void SampleSet::build_second_level(std::uint32_t shard, MutableBytes level, std::span<const KeyHash> keys) {
  const FilterParams filter_alone{.shard_bytes = shard_.params.shard_bytes,
                                  .hash_count = shard_.params.hash_count};
  const Lookup lookup = shard_.kind->lookup(filter_alone, best_instruction_set());
  std::vector<KeyHash> known_absent = sample_keys(shard, shard_count_, 2 * shard_.keys);
  known_absent.erase(known_absent.begin(), known_absent.begin() + shard_.keys);
  std::erase_if(known_absent, [&](KeyHash hash) { return !lookup.may_contain(array(), hash); });
  const auto seed = build_retrieval(level, keys, known_absent);
  if (!seed) throw std::runtime_error(fmt::format("{}: a second level is too small", shard_.kind->name));
  seeds_[shard] = *seed;
}

ShardArray SampleSet::array() const noexcept {
  return {shards_.get().data(), entries_.data(), shard_count_, shard_.params, seeds_.data()};
}

double SampleSet::bits_per_key() const noexcept {
  return 8.0 * static_cast<double>(shard_.params.stride() + sizeof(ShardEntry)) / shard_.keys;
}

std::vector<KeyHash> SampleSet::members(std::uint64_t count) const {
  std::mt19937_64 random(count);
  std::vector<KeyHash> members(count);
  for (KeyHash& member : members) {
    const auto shard = static_cast<std::uint32_t>(random() % built_shards_);
    const auto key = static_cast<std::uint32_t>(random() % shard_.keys);
    member = sample_key(range_of_shards(shard, shard + 1, shard_count_), key);
  }
  return members;
}

AbsentKeys::AbsentKeys(std::uint64_t count) : texts(count * kTextBytes) {
  hashes.reserve(count);
  char* next = texts.data();
  for (std::uint64_t i = 0; i < count; ++i, next += kTextBytes) {
    fmt::format_to(next, "absent-{:0>{}}", i, kTextBytes - std::strlen("absent-"));
    hashes.push_back(hash(i));
  }
}

}  // namespace keysieve
