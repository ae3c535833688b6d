// Bytes of a live publication that change: lookups answer maybe at once, and it is published again.
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "core/worker/shm/set_reader.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"

namespace keysieve::test {
namespace {

// Of other sets: histories_test.cpp. With a second level, a checksum covers less than 64 KiB: only whole
// shards.
TEST_F(SetRefresherTest, FindsDamageOfASetWithKnownAbsentKeysAndTakesNothingElseForIt) {
  site_.push(build_with_known_absent("tags", first_keys(60'000), {100'000, 60'000}));
  for (int i = 0; i < 3; ++i) ASSERT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  EXPECT_EQ(site_.live("tags")->id.publication, 1U);
  EXPECT_EQ(site_.live("tags")->known_absent, 60'000U);
  const std::filesystem::path live = site_.directory() + "/tags/" + snapshot_file_name(1);
  std::filesystem::permissions(live, std::filesystem::perms(0640));
  std::fstream(live, std::ios::in | std::ios::out | std::ios::binary).seekp(-8192, std::ios::end)
      << std::string(4096, '\0');
  EXPECT_FALSE(site_.knows("tags", first_keys(60'000)));
  refresh();
  EXPECT_EQ(site_.live("tags")->id.publication, 2U);
  EXPECT_TRUE(site_.knows("tags", first_keys(60'000)));
}

// Bytes of a live layer that change by themselves: the next look sets again what was lost, and says so.

constexpr KeyRange kAddedFar{50'000, 100};
constexpr std::size_t kHeaderBytes = offsetof(LivePage, header_checksum) + sizeof(std::uint64_t);
constexpr std::size_t kCount = offsetof(LivePage, live_keys);
constexpr std::size_t kCountBytes = sizeof(std::uint64_t);

class SetRefresherLayerDamage : public SetRefresherTest {
 protected:
  SetRefresherLayerDamage() {
    go_live();
    site_.add("tags", kAddedFar);
    refresh();
    EXPECT_EQ(absent(), 0);
    const auto sink = std::make_shared<spdlog::sinks::ostream_sink_st>(log_);
    before_ = std::exchange(spdlog::default_logger()->sinks(), {sink});
  }
  ~SetRefresherLayerDamage() override { spdlog::default_logger()->sinks() = before_; }

  [[nodiscard]] std::uint64_t current() const { return site_.live("tags")->id.publication; }

  // Returns the byte as it was.
  unsigned change(std::uint64_t publication, std::size_t offset, unsigned bits = 0xff) const {
    std::fstream file(site_.directory() + "/tags/" + live_file_name(publication),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(static_cast<char>(static_cast<unsigned>(byte) ^ bits)).flush();
    EXPECT_TRUE(file.good());
    return static_cast<unsigned>(byte);
  }
  // For a process that has had a publication since the beginning.
  int absent() {
    const Attachment* attached = reader_.follow();
    int absent = 0;
    for (int i = 0; attached && i < kAddedFar.count; ++i) {
      const std::string key = key_number(kAddedFar.first + i);
      if (!attached->may_contain(attached->snapshot().hasher()(key))) ++absent;
    }
    return absent;
  }

  // One look; afterwards all keys are maybe, and log, status and metrics say what it found, once.
  void expect_restored() {
    const std::uint64_t before = report().damages;
    log_.str("");
    refresh();
    EXPECT_EQ(absent(), 0);
    EXPECT_TRUE(site_.knows("tags", kAddedFar));
    EXPECT_EQ(report().damages, before + 1);
    EXPECT_THAT(log_.str(), ::testing::HasSubstr("changed"));
    EXPECT_TRUE(std::ranges::any_of(report().history, [](const HistoryEntry& entry) {
      return entry.event == "damaged" && !entry.reason.empty();
    }));
    expect_nothing_found();
  }
  void expect_nothing_found() {
    const std::uint64_t before = report().damages;
    log_.str("");
    refresh();
    EXPECT_EQ(absent(), 0);
    EXPECT_EQ(report().damages, before);
    EXPECT_EQ(log_.str(), "");
  }
  SetReader reader_{{.directory = site_.directory()}, "tags"};
  std::ostringstream log_;
  std::vector<spdlog::sink_ptr> before_;
};

TEST_F(SetRefresherTest, HidesNoKeyThatASecondLoaderHasAdded) {
  go_live();
  refresh();
  SetReader reader({.directory = site_.directory()}, "tags");
  const KeyHash added = reader.follow()->snapshot().hasher()(key_number(kAddedFar.first));
  Publisher({.directory = site_.directory()}, "tags").open_layer()->add(added);
  EXPECT_TRUE(reader.attachment()->may_contain(added));
  refresh();
  EXPECT_TRUE(reader.follow()->may_contain(added));
}

// A bit that was gained only makes a maybe.
TEST_F(SetRefresherLayerDamage, OfAnyBitThatWasSetIsRestored) {
  expect_nothing_found();
  std::mt19937 random(42);
  int times_absent = 0;
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    const unsigned bit = random() % (kLayerShardBytes * 8);
    SCOPED_TRACE("bit " + std::to_string(bit));
    const bool was_set = (change(1, sizeof(LivePage) + bit / 8, 1U << bit % 8) >> bit % 8 & 1U) != 0;
    if (absent() != 0) ++times_absent;
    was_set ? expect_restored() : expect_nothing_found();
  }
  EXPECT_GT(times_absent, 0);
  EXPECT_EQ(current(), 1U);
}

TEST_F(SetRefresherLayerDamage, OfAnyByteOfThePageIsRestoredOrPublishedAgain) {
  for (std::size_t offset = 0; offset < kHeaderBytes && !HasFailure(); ++offset) {
    SCOPED_TRACE("offset " + std::to_string(offset));
    const std::uint64_t before = current();
    change(before, offset);
    expect_restored();
    EXPECT_EQ(current(), before + 1);
    refresh();
  }
  for (std::size_t i = 0; i < kCountBytes; ++i) {
    change(current(), kCount + i);
    expect_restored();
    EXPECT_EQ(reader_.attachment()->layer().keys(), 100U);
  }
  for (std::size_t offset = kHeaderBytes; offset < sizeof(LivePage); offset += 61) {
    if (offset / kCacheLineBytes == kCount / kCacheLineBytes) continue;
    change(current(), offset);
    expect_nothing_found();  // nobody reads it
  }
}

TEST_F(SetRefresherLayerDamage, OfTheCountHidesNothingLongerThanALook) {
  const auto added = static_cast<unsigned>(kAddedFar.count);
  change(1, kCount, added);  // 100 ^ 100: no key was added
  expect_restored();
  EXPECT_THAT(report().history.front().reason, ::testing::HasSubstr("1 bit had to be set again"));
}

}  // namespace
}  // namespace keysieve::test
