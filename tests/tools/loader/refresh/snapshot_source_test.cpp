// What comes from the cache is what was asked for, even if another loader replaces it meanwhile.
#include "tools/loader/refresh/candidate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/tools/loader/site.hpp"

namespace keysieve::test {
namespace {

TEST(SnapshotSource, GivesNoSnapshotTheGenerationOfAnother) {
  const Site site;
  const SnapshotCache cache(site.cache());
  const SnapshotBytes odd = build_snapshot("tags", first_keys(10));
  const SnapshotBytes even = build_snapshot("tags", first_keys(20));
  cache.save("tags", 1, odd.get());
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    for (std::uint64_t generation = 2; !is_over; ++generation) {
      cache.save("tags", generation, generation % 2 == 0 ? even.get() : odd.get());
    }
  });

  SetConfig config;
  config.name = "tags";
  const std::string store = "store";
  const std::function<bool()> on_progress = [] { return true; };
  SetLog log("tags");
  const SnapshotSource source(config, store, cache, on_progress, log);
  int found = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto cached = source.newest_cached();
    if (!cached) continue;
    ++found;
    const auto keys = SnapshotView::decode(cached->snapshot.get(), "test", Check::Tables).header().key_count;
    EXPECT_EQ(keys, cached->record.generation % 2 == 0 ? 20U : 10U) << cached->record.generation;
  }
  is_over = true;
  other.join();
  EXPECT_GT(found, 0);
}

}  // namespace
}  // namespace keysieve::test
