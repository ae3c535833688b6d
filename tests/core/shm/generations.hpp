// A few snapshots whose exact answers are known, for readers that verify while a publisher runs. Each holds
// the keys common to all and marker keys of its own, so that an answer mixed from two would be noticed.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/shm/attachment.hpp"
#include "tests/core/sample_snapshot.hpp"

namespace keysieve::test {

class Generations {
 public:
  explicit Generations(const std::string& set_name) {
    std::vector<std::string> keys = numbered_keys("common", kKeys);
    for (std::size_t i = 0; i < kVariants; ++i) {
      const auto markers = numbered_keys("marker" + std::to_string(i) + "-", kKeys);
      keys.insert(keys.end(), markers.begin(), markers.end());
    }
    const KeyHasher hasher(kSeed);
    for (const std::string& key : keys) hashes_.push_back(hasher(key));
    for (std::size_t i = 0; i < kVariants; ++i) add_variant(set_name, i, keys);
  }

  // The snapshot for a generation of a store.
  [[nodiscard]] Bytes snapshot(std::uint64_t generation) const {
    return std::as_const(variants_[generation % kVariants].snapshot).get();
  }

  // Whether every answer, for keys and absent keys alike, is that of the generation in the live page.
  [[nodiscard]] bool answers_rightly(const Attachment& attachment) const {
    const Variant& variant = variants_[attachment.live().generation % kVariants];
    std::vector<char> answers;
    for (const KeyHash& hash : hashes_) answers.push_back(attachment.may_contain(hash) ? 1 : 0);
    return attachment.live().publication == attachment.id().publication &&
           attachment.snapshot().header().build_id == variant.build_id && answers == variant.answers;
  }

 private:
  static constexpr std::size_t kVariants = 4;
  static constexpr int kKeys = 1'000;
  static constexpr HashSeed kSeed{99};

  struct Variant {
    SnapshotBytes snapshot;
    BuildId build_id;
    std::vector<char> answers;
  };

  void add_variant(const std::string& set_name, std::size_t number, const std::vector<std::string>& keys) {
    const auto markers = keys.begin() + kKeys + static_cast<std::ptrdiff_t>(number) * kKeys;
    std::vector<std::string> own(keys.begin(), keys.begin() + kKeys);
    own.insert(own.end(), markers, markers + kKeys);
    const BuildId build_id{static_cast<std::uint8_t>(number + 1)};
    Variant variant{
        build_snapshot({.set_name = set_name, .shard_bytes = 1024, .seed = kSeed, .build_id = build_id}, own),
        build_id,
        {}};
    const SnapshotView view = decode(variant.snapshot);
    for (const KeyHash& hash : hashes_) variant.answers.push_back(view.may_contain(hash) ? 1 : 0);
    variants_.push_back(std::move(variant));
  }

  std::vector<KeyHash> hashes_;
  std::vector<Variant> variants_;
};

}  // namespace keysieve::test
