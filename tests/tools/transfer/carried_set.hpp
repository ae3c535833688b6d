// A set that is pushed to and pulled from servers one of which is lost meanwhile.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/support/redis_server.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve::test {

class CarriedSet {
 public:
  // The old snapshot is current once all `replicas` have it.
  CarriedSet(const std::string& url, int replicas) : url_(url + "?timeout=2m&failover=2m") {
    push("&wait_replicas=" + std::to_string(replicas), old_snapshot);
  }

  // `query`: "&name=value", added to that of the URL, which has patience with a busy machine.
  PushResult push(const std::string& query, const SnapshotBytes& snapshot, const Progress& progress = {}) {
    return keysieve::push(*open_store(url_ + query), view_of(snapshot), {}, progress);
  }
  Pulled pull(const Progress& progress = {}) {
    return keysieve::pull(*open_store(url_), "tags", 0, progress);
  }

  const SnapshotBytes old_snapshot = build_snapshot({.shard_count = kShardsOfSomeBatches});
  const SnapshotBytes new_snapshot = build_snapshot({.shard_count = kShardsOfSomeBatches});

 private:
  std::string url_;
};

// In the middle of a push or pull, after the first batch.
template <typename Lose>
Progress in_the_middle(const Lose& lose) {
  return [lose](std::uint64_t done, std::uint64_t total) {
    if (done < total) lose();
  };
}

inline void expect_same(const Pulled& pulled, const SnapshotBytes& snapshot) {
  EXPECT_TRUE(std::ranges::equal(pulled.snapshot.get(), snapshot.get()));
}

}  // namespace keysieve::test
