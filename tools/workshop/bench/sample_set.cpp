#include "tools/workshop/bench/sample_set.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>

#include "core/filters/sizing.hpp"
#include "core/hash/key_hash.hpp"
#include "core/partition/shard_order.hpp"

namespace keysieve {
namespace {

KeyHash sample_key(const HashRange& shard, std::uint32_t key) {
  const std::uint64_t random = fold((shard.first.word ^ key) ^ kA, 0x8EBC6AF09C88C6E3);  // also from wyhash
  return {shard.first.word + random % (shard.last.word - shard.first.word)};
}

}  // namespace

FilterParams sample_params(const FilterKind& kind, double target_fpr) {
  return size_filter(kind, {.keys = 1'000'000, .target_fpr = target_fpr}).params;
}

std::uint32_t sample_keys_per_shard(const FilterKind& kind, const FilterParams& params, double target_fpr) {
  return static_cast<std::uint32_t>(most_keys_per_shard(kind, params, target_fpr));
}

std::vector<KeyHash> sample_keys(std::uint32_t shard, std::uint32_t shard_count, std::uint32_t keys) {
  const HashRange range = range_of_shards(shard, shard + 1, shard_count);
  std::vector<KeyHash> hashes(keys);
  for (std::uint32_t i = 0; i < keys; ++i) hashes[i] = sample_key(range, i);
  return hashes;
}

SampleSet::SampleSet(const FilterKind& kind, std::uint64_t bytes, std::uint32_t built_shards,
                     double target_fpr)
    : kind_(&kind),
      params_(sample_params(kind, target_fpr)),
      shard_count_(static_cast<std::uint32_t>(bytes / kDefaultShardBytes)),
      built_shards_(std::min(built_shards, shard_count_)),
      keys_per_shard_(sample_keys_per_shard(kind, params_, target_fpr)),
      shards_(bytes),
      entries_(shard_count_) {
  {
    const std::uint32_t half = built_shards_ / 2;
    const std::jthread other([this, half] { build(0, half); });
    build(half, built_shards_);
  }
  for (std::uint32_t shard = built_shards_; shard < shard_count_; ++shard) {
    const std::uint32_t model = shard % built_shards_;
    entries_[shard] = entries_[model];
    std::memcpy(shards_.get().data() + std::uint64_t{shard} * params_.shard_bytes, array().shard(model),
                params_.shard_bytes);
  }
}

void SampleSet::build(std::uint32_t first, std::uint32_t end) {
  for (std::uint32_t shard = first; shard < end; ++shard) {
    const MutableBytes bytes =
        shards_.get().subspan(std::uint64_t{shard} * params_.shard_bytes, params_.shard_bytes);
    kind_->build(bytes, entries_[shard], params_, sample_keys(shard, shard_count_, keys_per_shard_));
  }
}

ShardArray SampleSet::array() const noexcept {
  return {shards_.get().data(), entries_.data(), shard_count_, params_};
}

double SampleSet::bits_per_key() const noexcept {
  return 8.0 * static_cast<double>(params_.shard_bytes + sizeof(ShardEntry)) / keys_per_shard_;
}

std::vector<KeyHash> SampleSet::members(std::uint64_t count) const {
  std::mt19937_64 random(count);
  std::vector<KeyHash> members(count);
  for (KeyHash& member : members) {
    const auto shard = static_cast<std::uint32_t>(random() % built_shards_);
    const auto key = static_cast<std::uint32_t>(random() % keys_per_shard_);
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
