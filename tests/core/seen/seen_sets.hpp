// A directory for one test, with the seen set "clicks" in it. Most suites of seen start from it.
#pragma once

#include <gmock/gmock.h>

#include <fstream>

#include "core/publisher/seen/seen_sizing.hpp"
#include "core/publisher/seen/seen_writer.hpp"
#include "core/worker/seen/seen_reader.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/hash_key.hpp"
#include "tests/support/segments.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {

// A user that is neither root nor the loader.
inline constexpr uid_t kWorker = 54'323;

inline KeyHash numbered_hash(std::uint64_t number, std::uint64_t seed = 42) {
  static thread_local KeyHasher hasher({seed});
  if (hasher.seed() != HashSeed{seed}) hasher = KeyHasher({seed});
  return hasher({reinterpret_cast<const char*>(&number), sizeof number});
}

// The same time on both clocks, as long as neither is set.
inline Moment at(UnixSeconds seconds) {
  return {.unix = seconds, .boot = seconds};
}

// What a worker does for a key. False too if the set cannot answer.
inline bool is_new(SeenReader& reader, KeyHash hash) {
  return reader.follow() && reader.add_if_new(hash) == SeenAnswer::New;
}
inline bool was_seen(SeenReader& reader, KeyHash hash) {
  return reader.follow() && reader.may_contain(hash);
}

// Makes filters, each at the moment when its window begins, and shows all of them at once.
inline void append(SeenWriter& writer, const std::vector<SeenPlan>& plans) {
  for (const SeenPlan& plan : plans) writer.make(plan, plan.window.begins);
  writer.show();
}

class SeenSets : public ::testing::Test {
 protected:
  static constexpr const char* kSet = "clicks";
  static constexpr HashSeed kSeed{42};
  static constexpr HashSeed kOtherSeed{43};
  static constexpr UnixSeconds kForever = kFarthestMoment;

  SeenSets() : directory_(fast_folder()) { std::filesystem::permissions(directory_.path(), kForAll); }
  ~SeenSets() override { remove_segments_of(folder()); }

  [[nodiscard]] SeenWriter writer(std::optional<gid_t> group = std::nullopt) const {
    return {directory_.path(), kSet, group};
  }
  // Begins a set with these filters.
  [[nodiscard]] SeenWriter new_writer(const std::vector<SeenPlan>& plans = {}) const {
    SeenWriter begun = writer();
    begun.create(kSeed, OnUnavailable::New);
    append(begun, plans);
    return begun;
  }
  // Adopts the set, or begins one with one filter.
  [[nodiscard]] SeenWriter started_writer(std::optional<gid_t> group = std::nullopt) const {
    SeenWriter started = writer(group);
    if (!started.adopt()) started.create(kSeed, OnUnavailable::New);
    if (started.state().is_empty()) append(started, {plan()});
    return started;
  }
  [[nodiscard]] SeenReader reader() const { return {{.directory = directory_.path()}, kSet}; }

  // The plan of a filter with one shard, which has room for far more than 10 keys.
  // Plans that expire at different moments belong to different windows.
  static SeenPlan plan(UnixSeconds expires_at = kForever, std::uint64_t growth = 0) {
    static const SeenSize size = seen_size(50, 1e-6);
    return {.window = {.begins = 0, .ends = expires_at, .kept_for = 0},
            .growth = growth,
            .capacity = 50,
            .rate = 1e-6,
            .size = size};
  }

  // No absent key seems to be there, even when it holds 10,000.
  static SeenPlan roomy_plan(UnixSeconds expires_at = kForever) {
    SeenPlan roomy = plan(expires_at);
    roomy.size.words *= 16;
    return roomy;
  }

  static void expect_missing(SeenReader& reader, const ::testing::Matcher<std::string>& reason) {
    EXPECT_FALSE(reader.follow());
    EXPECT_EQ(reader.availability(), Availability::Missing);
    EXPECT_THAT(reader.reason(), reason);
  }
  void expect_missing(const ::testing::Matcher<std::string>& reason) const {
    SeenReader fresh = reader();
    expect_missing(fresh, reason);
  }

  [[nodiscard]] std::string folder() const { return seen_directory(directory_.path()) + "/" + kSet; }
  [[nodiscard]] std::string page_path() const { return folder() + "/" + kSeenPageName; }
  // For what a loader would never write to it.
  [[nodiscard]] MappedPage<SeenPage> writable_page() const {
    return open_seen_page<SeenPage>(SetFolder::open(seen_directory(directory_.path()), kSet, std::nullopt));
  }

  TemporaryDirectory directory_;

 private:
  // Workers of other users, too, must reach what is below.
  static constexpr auto kForAll = std::filesystem::perms(0755);
};

}  // namespace keysieve::test
