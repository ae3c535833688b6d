#include "tools/workshop/bench/sample_set.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>

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

SampleShard::SampleShard(const FilterKind& of, double target_fpr) : kind(&of) {
  const Geometry geometry = size_filter(of, {.keys = kSizedKeys, .target_fpr = target_fpr});
  params = geometry.params;
  keys = static_cast<std::uint32_t>(kSizedKeys / geometry.shard_count);
}

SampleSet::SampleSet(const SampleShard& shard, std::uint64_t bytes, std::uint32_t built_shards)
    : shard_(shard),
      shard_count_(static_cast<std::uint32_t>(bytes / shard.params.stride())),
      built_shards_(std::min(built_shards, shard_count_)),
      shards_(bytes),
      entries_(shard_count_) {
  {
    const std::uint32_t half = built_shards_ / 2;
    const std::jthread other([this, half] { build(0, half); });
    build(half, built_shards_);
  }
  const std::uint32_t stride = shard.params.stride();
  for (std::uint32_t index = built_shards_; index < shard_count_; ++index) {
    const std::uint32_t model = index % built_shards_;
    entries_[index] = entries_[model];
    std::memcpy(shards_.get().data() + std::uint64_t{index} * stride, array().shard(model), stride);
  }
}

void SampleSet::build(std::uint32_t first, std::uint32_t end) {
  const FilterParams& params = shard_.params;
  for (std::uint32_t index = first; index < end; ++index) {
    const HashRange range = range_of_shards(index, index + 1, shard_count_);
    std::vector<KeyHash> keys(shard_.keys);
    for (std::uint32_t i = 0; i < shard_.keys; ++i) keys[i] = sample_key(range, i);
    const MutableBytes bytes = shards_.get().subspan(std::uint64_t{index} * params.stride(), params.stride());
    shard_.kind->build(bytes, entries_[index], params, keys);
  }
}

ShardArray SampleSet::array() const noexcept {
  return {shards_.get().data(), entries_.data(), shard_count_, shard_.params};
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
