// What hosts with a store send for what they have seen, and what they learn from each other.
#include "tools/loader/seen/seen_exchange.hpp"

#include "tests/support/message_of.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"
#include "tools/loader/seen/seen_log.hpp"

namespace keysieve::test {
namespace {

using ::testing::HasSubstr;

// What differs between stores is in tests/tools/stores.
using SeenExchangeTest = TwoSeenHosts;

TEST_F(SeenExchangeTest, SendsEachKeyOnceAndReadsItOnce) {
  web1_.look(kNoon);
  EXPECT_EQ(web1_.look(kNoon + 1).keys_saved, 0U);
  EXPECT_EQ(web1_.tap.entries_appended, 0U);
  EXPECT_EQ(web1_.add_many(0, 1'000), 1'000U);
  EXPECT_EQ(web1_.look(kNoon + 2).keys_saved, 1'000U);
  EXPECT_EQ(web1_.tap.entries_appended, 1U);
  EXPECT_LT(web1_.tap.bytes_appended, 1'000U * 10);
  web1_.look(kNoon + 3);
  EXPECT_EQ(web1_.tap.entries_read, 1U);
  web1_.save();
  web1_.start();  // as with a reload or a restart
  web1_.look(kNoon + 4);
  EXPECT_EQ(web1_.tap.entries_appended, 1U);
  EXPECT_EQ(web1_.tap.entries_read, 2U) << "the last one once more: it is still there";
  EXPECT_EQ(web1_.add_many(0, 1'010), 10U);
  EXPECT_EQ(web1_.look(kNoon + 5).keys_saved, 10U);
  web1_.reboot_and_start();
  web1_.look(kNoon + 6);
  web1_.look(kNoon + 7);
  EXPECT_EQ(web1_.add_many(0, 1'010), 0U);
  EXPECT_EQ(web1_.tap.entries_appended, 2U) << "what was restored is in the store";
}

// Each append may wait for a replica that is down, and after each that failed all of the log is read again.
TEST_F(SeenExchangeTest, OnlyReadsForAWhileAfterAnAppendHasFailed) {
  web1_.config().save_interval = Milliseconds(1);
  web1_.start();
  look(kNoon);
  web1_.add_many(0, 100);
  web2_.add_many(100, 100);
  int appends = 0;
  web1_.tap.loses = [](const auto&) { return true; };
  web1_.tap.after_append = [&] {
    ++appends;
    lose_connection();
  };
  const SteadyTime begun = SteadyTime::clock::now();
  const auto look_later = [&](Milliseconds later) {
    web1_.keeper().wake();
    do web1_.keeper().look(begun + later, {kNoon + 2, kMinute});
    while (web1_.keeper().has_more());
    return web1_.report();
  };
  look(kNoon + 1);
  EXPECT_EQ(look_later(Milliseconds(500)).keys_merged, 100U);
  EXPECT_EQ(appends, 1);
  EXPECT_THAT(web1_.report().reason, HasSubstr("connection lost"));
  look_later(std::chrono::hours(1));
  EXPECT_EQ(appends, 2);
  web1_.tap = {};
  EXPECT_EQ(look_later(std::chrono::hours(2)).reason, "");
}

TEST_F(SeenExchangeTest, HostsLearnFromEachOtherAndSendOnlyTheirOwn) {
  look(kNoon);
  EXPECT_EQ(web1_.add_many(0, 500), 500U);
  look(kNoon + 1);
  EXPECT_EQ(web2_.add_many(500, 500), 500U);
  web2_.look(kNoon + 2);
  look(kNoon + 3);
  EXPECT_EQ(web1_.report().keys_merged, 500U);
  EXPECT_EQ(web2_.report().keys_merged, 500U);
  EXPECT_EQ(web1_.report().reason, "");
  EXPECT_EQ(web2_.add_many(0, 1'000), 0U);
  EXPECT_EQ(web1_.add_many(0, 1'000), 0U);
  web1_.start();
  look(kNoon + 3);
  look(kNoon + 4);
  EXPECT_EQ(entries().size(), 2U);
  EXPECT_LE(web1_.tap.entries_read, 3U) << "the last one once more: it is still there";
  EXPECT_LE(web2_.tap.entries_read, 3U);
}

// Up to the fourth filter, of the newest window and of the one before it.
TEST_F(SeenExchangeTest, AWindowThatGrowsOnOneGrowsOnTheOther) {
  look(kNoon);
  web2_.stop();
  web1_.look(kNoon);
  const std::uint64_t new_at_first = web1_.add_slowly(0, 20'000, kNoon + 1);
  web1_.look(kNoon + 10 * kMinute);
  const std::uint64_t new_later = web1_.add_slowly(600'000, 20'000, kNoon + 10 * kMinute + 1);
  EXPECT_EQ(web1_.worker().attached().size, 2 * kFiltersPerWindow);
  EXPECT_EQ(web1_.report().reason, "");
  web2_.start();
  EXPECT_EQ(web2_.look(kNoon + 11 * kMinute).reason, "");
  EXPECT_EQ(web2_.worker().attached().size, 2 * kFiltersPerWindow);
  EXPECT_GE(web2_.count_of(0, 20'000), new_at_first);
  EXPECT_GE(web2_.count_of(600'000, 20'000), new_later);
  EXPECT_EQ(web2_.look(kNoon + 12 * kMinute).reason, "");
}

// It was saved, ran without the store, and is saved again.
TEST_F(SeenExchangeTest, IgnoresWhatAnEarlierLifeOfTheSetHasLeftAndReportsTheHost) {
  look(kNoon);
  EXPECT_EQ(web1_.add_many(0, 500), 500U);
  look(kNoon + 1);
  web1_.reboot();
  web1_.start(false);
  web1_.look(kNoon + 2);
  EXPECT_EQ(web1_.add_many(0, 1'000), 1'000U) << "with another seed";
  web1_.start();
  EXPECT_EQ(web1_.look(kNoon + 3).reason, "");
  EXPECT_EQ(web1_.add_many(2'000, 1'000), 1'000U) << "as many as without the old ones";
  EXPECT_EQ(web1_.look(kNoon + 4).reason, "");
  EXPECT_EQ(web2_.look(kNoon + 4).reason, "host web1 has another seed: it began with another store");
  EXPECT_EQ(web2_.count_of(500, 500), 0U);
  web1_.reboot_and_start();
  EXPECT_EQ(web1_.look(kNoon + 5).reason, "");
  EXPECT_EQ(web1_.count_of(0, 1'000), 1'000U);
  EXPECT_EQ(web1_.count_of(2'000, 1'000), 1'000U);
}

// Both a host with too many keys and a worker that sets whatever it likes.
TEST_F(SeenExchangeTest, AFilterThatIsTooFullSpoilsNoOtherHost) {
  look(kNoon);
  EXPECT_EQ(web2_.add_many(0, 100), 100U);
  look(kNoon + 1);
  for (Word& word : web2_.worker().filters().front().words()) {
    word.low = 0x5a5a'5a5a'5a5a'5a5a;
    word.high = ~std::uint64_t{0};
  }
  web2_.look(kNoon + 2);
  EXPECT_THAT(web1_.look(kNoon + 2).reason, HasSubstr("what host web2 adds is not taken over"));
  EXPECT_EQ(web1_.count_of(0, 100), 100U);
  const SeenPlan plan = web1_.worker().page()->entry(0).plan;
  EXPECT_LE(seen_fill(web1_.worker().filters().front()).rate, 16 * plan.rate);
  EXPECT_EQ(web1_.add_many(1'000, 500), 500U);
  web1_.look(kNoon + 3);
  web2_.look(kNoon + 10 * kMinute);
  EXPECT_EQ(web1_.look(kNoon + 10 * kMinute).reason, "") << "in the next window they are well again";
}

TEST_F(SeenExchangeTest, AWorkerThatTakesKeysAwayFillsNoStore) {
  web1_.look(kNoon);
  const std::span<Word> words = web1_.worker().filters().front().words();
  for (int i = 0; i < 100; ++i) {
    for (Word& word : words) {
      word.low = i % 2 == 0 ? ~std::uint64_t{0} : 0;
      word.high = i % 2 == 0 ? ~std::uint64_t{0} : 0;
    }
    web1_.look(kNoon + 1);
  }
  EXPECT_THAT(web1_.report().reason, HasSubstr("a worker takes keys away"));
  EXPECT_LE(web1_.tap.bytes_appended, 2 * kMostTags * words.size() * 4);
  web1_.look(kNoon + 10 * kMinute);
  const std::span<Word> next = web1_.worker().filters().back().words();
  static_cast<void>(next[3].compare_and_set({}, WordValue{}.with(77)));
  web1_.look(kNoon + 10 * kMinute + 1);
  web1_.reboot_and_start();
  web1_.look(kNoon + 10 * kMinute + 2);
  EXPECT_EQ(seen_fill(web1_.worker().filters().back()).keys, 1) << "the next window was saved";
}

// The first window expires and the third one begins.
TEST_F(SeenExchangeTest, GoesOnWithTheFiltersThatAreThereAfterEachRequest) {
  look(kNoon);
  EXPECT_EQ(web1_.add_many(0, 100), 100U);
  SeenKeeper& keeper = web1_.keeper();
  keeper.try_again_now();
  const SteadyTime then = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  keeper.look(then, {kNoon + 10 * kMinute, 10 * kMinute + 30});
  ASSERT_TRUE(keeper.has_more());
  EXPECT_EQ(web1_.add_many(1'000, 100), 100U);
  const SteadyTime later = then + 2 * SeenKeeper::kPause;
  keeper.follow_clock(later, {kNoon + 20 * kMinute, 20 * kMinute + 30});
  EXPECT_EQ(web1_.count_of(0, 100), 0U);
  while (keeper.has_more()) keeper.look(later, {kNoon + 20 * kMinute, 20 * kMinute + 30});
  EXPECT_EQ(web1_.report().reason, "");
  EXPECT_EQ(web2_.look(kNoon + 20 * kMinute).reason, "");
  EXPECT_EQ(web2_.count_of(1'000, 100), 100U);
}

// The entries of the log through which hosts exchange a seen set, as bytes.

SeenLogEntry an_entry() {
  SeenLogEntry entry{.seed = {77},
                     .sender = 78,
                     .number = 79,
                     .ended_at = 80,
                     .plan = {{1, 2, 3}, 0, 1'000, 1e-5, {512, 8}},
                     .host = "web1"};
  for (std::uint64_t i = 0; i < 64; ++i) {
    const unsigned bits = 3 + static_cast<unsigned>(i) % 38;
    entry.tags.push_back({i, (i * 0x9e37'79b9'7f4a'7c15) >> (64 - bits), bits});
  }
  return entry;
}

TEST(SeenLogEntries, AreReadAsTheyWereWritten) {
  SeenLogEntry entry = an_entry();
  EXPECT_EQ(decode_seen_log_entry(encode(entry), "entry"), entry);
  entry.plan.size = {kMaxSeenWords, 4};
  entry.host = std::string(kMostSeenHostBytes, 'h');
  entry.tags.assign(kTagsPerEntry + kMostTags, {0, low_bits(~std::uint64_t{0}, kMostTagBits), kMostTagBits});
  entry.tags.back().block = kMaxSeenWords / 4 - 1;
  const std::string value = encode(entry);
  EXPECT_LE(value.size(), kMaxValueBytes);
  EXPECT_EQ(decode_seen_log_entry(value, "entry"), entry);
}

TEST(SeenLogEntries, AreRefusedIfAnyByteIsWrong) {
  constexpr std::size_t kVersionAt = 7;
  const std::string value = encode(an_entry());
  for (std::size_t i = 0; i < value.size(); ++i) {
    std::string damaged = value;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_EQ(failure_of([&] { decode_seen_log_entry(damaged, "entry"); }),
              i == kVersionAt ? ErrorKind::Incompatible : ErrorKind::Data)
        << i;
    EXPECT_EQ(failure_of([&] { decode_seen_log_entry(value.substr(0, i), "entry"); }), ErrorKind::Data) << i;
  }
  EXPECT_EQ(failure_of([&] { decode_seen_log_entry(value + '\0', "entry"); }), ErrorKind::Data);
}

TEST(SeenLogEntries, AreRefusedIfNoLoaderWritesSuch) {
  const auto is_refused = [](const auto& change) {
    SeenLogEntry entry = an_entry();
    change(entry);
    try {
      decode_seen_log_entry(encode(entry), "entry");
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::Data;
    }
  };
  EXPECT_FALSE(is_refused([](auto&) {}));
  for (const SeenSize& size :
       {SeenSize{0, 8}, {513, 8}, {2 * kMaxSeenWords, 8}, {512, 0}, {512, 32}, {256, 8}})
    EXPECT_TRUE(is_refused([&](auto& entry) { entry.plan.size = size; }))
        << size.words << " " << size.block_words;
  EXPECT_TRUE(is_refused([](auto& entry) { entry.plan.window.ends = -1; }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.ended_at = kFarthestMoment + 1; }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.plan.growth = kFiltersPerWindow; }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.plan.capacity = 0; }));
  for (const double rate : {0.0, 1.0, std::nan("")})
    EXPECT_TRUE(is_refused([&](auto& entry) { entry.plan.rate = rate; })) << rate;
  EXPECT_TRUE(is_refused([](auto& entry) { entry.number = 0; }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.host.assign(kMostSeenHostBytes + 1, 'h'); }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.tags.back().block = 64; })) << "behind the last block";
  EXPECT_TRUE(is_refused([](auto& entry) { entry.tags.back().bits = kMostTagBits + 1; }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.tags.back().bits = tag_bits(kMostTags) - 1; }));
  EXPECT_TRUE(is_refused([](auto& entry) { entry.tags.back() = {63, 8, 3}; })) << "more than its bits";
}

}  // namespace
}  // namespace keysieve::test
