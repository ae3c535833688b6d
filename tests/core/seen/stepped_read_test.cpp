// Stops a reader at each instruction, and writes what it is reading: the words of a block, as a hostile
// worker might, or the entries of the page, as the loader does when it has come round.
#include <array>
#include <atomic>

#include "core/publisher/seen/seen_tags.hpp"
#include "tests/core/seen/seen_sets.hpp"
#include "tests/support/shared_page.hpp"
#include "tests/support/stepped_process.hpp"

namespace keysieve {
namespace {

using test::numbered_hash;
using test::SteppedProcess;
using test::was_seen;

struct SharedAnswer {
  std::atomic<bool> was_seen{false};
};

// A hostile worker changes the words of a block wherever that is in the way of another process.
class BesideAHostileWorker : public test::SeenSets {
 protected:
  // Between any two instructions, so that no word can be read as a whole; or before each exchange.
  enum class Changes : std::uint8_t { BetweenLoads, BeforeExchanges };

  // `work` says whether the key was seen.
  template <typename Work>
  void expect_seen(Changes changes, Work work) {
    const test::SharedPage<SharedAnswer> answer;
    SteppedProcess other([&] {
      SeenReader reader = this->reader();
      for (reader.follow();;) {
        SteppedProcess::stop_here();
        answer->was_seen = work(reader);
      }
    });
    if (!other.may_trace()) GTEST_SKIP() << "may not trace a process";
    const SteppedProcess::Trace trace = other.trace();
    EXPECT_FALSE(answer->was_seen) << "nobody else adds it";
    const auto goes_on = [&] {
      if (!other.step()) return false;
      return changes == Changes::BetweenLoads || other.run_to(trace.addresses[trace.exchanges.at(0)]);
    };
    for (Word& word : block_) word.store_alone({});
    for (std::uint64_t change = 1; goes_on(); ++change) {
      ASSERT_LT(change, 50'000U) << "stalled";
      for (Word& word : block_) (changes == Changes::BetweenLoads ? word.high : word.low) = change;
    }
    EXPECT_TRUE(answer->was_seen);
    for (Word& word : block_) word.store_alone({});
  }

  // So there is less to do.
  static SeenPlan plan_of_small_blocks() {
    SeenPlan small = plan();
    small.size.block_words = kLeastBlockWords;
    return small;
  }

  const KeyHash key_ = numbered_hash(1);
  SeenWriter writer_ = new_writer({plan_of_small_blocks()});
  const SeenFilter filter_ = writer_.filters().front().filter;
  const std::span<Word> block_ = filter_.block(shard_of(key_, filter_.blocks()));
};

TEST_F(BesideAHostileWorker, AWorkerTakesAKeyForSeen) {
  for (const Changes changes : {Changes::BetweenLoads, Changes::BeforeExchanges})
    expect_seen(changes, [&](SeenReader& reader) { return reader.add_if_new(key_) == SeenAnswer::Seen; });
}

TEST_F(BesideAHostileWorker, TheLoaderGoesOn) {
  const SeenTag tag{.block = shard_of(key_, filter_.blocks()), .tag = tag_of(key_)};
  for (const Changes changes : {Changes::BetweenLoads, Changes::BeforeExchanges})
    expect_seen(changes, [&](const SeenReader&) { return add_tags(filter_, {}, {&tag, 1}) == 0; });
}

// A worker is stopped while it attaches filters, for so long that the loader has come round in the page and
// writes the entries that the worker is reading: it must notice.
using SteppedFollow = test::SeenSets;

TEST_F(SteppedFollow, MixesNoOldStateWithNewEntries) {
  const KeyHash key = numbered_hash(1);
  SeenWriter writer = new_writer();
  // The key is in the first, which will be gone, and in the second, which comes before the third.
  for (int i = 0; i < 3; ++i) {
    const OpenFilter& made = writer.make(plan(i + 1), 0);
    EXPECT_TRUE(i == 2 || made.filter.add_if_new(key));
  }
  writer.show();
  const MappedPage<SeenPage> file = writable_page();
  SeenPage& page = file.page();
  const SeenState all = writer.state();
  const std::array<SeenEntry, 3> entries{page.entry(all.first), page.entry(all.first + 1),
                                         page.entry(all.first + 2)};
  const auto begin_round = [&] {
    page.state = SeenState{}.word();
    page.entries[0] = entries[0];
  };
  const auto has_one = [&] { page.state = SeenState{0, 1}.word(); };
  const auto has_come_round = [&] {
    page.entries[kSeenEntries - 1] = entries[1];
    page.entries[0] = entries[2];
    page.state = SeenState{kSeenEntries - 1, 2}.word();
  };

  const test::SharedPage<SharedAnswer> answer;
  SteppedProcess worker([&] {
    SeenReader reader = this->reader();
    for (;;) {
      SteppedProcess::stop_here();
      if (reader.follow()) return;
      SteppedProcess::stop_here();
      answer->was_seen = was_seen(reader, key);
    }
  });
  if (!worker.may_trace()) GTEST_SKIP() << "may not trace a process";
  SteppedProcess::Trace trace;
  for (int round = 0; round < 2; ++round) {  // the dynamic linker does its part in the first
    begin_round();
    ASSERT_TRUE(worker.resume());
    has_one();
    trace = worker.trace();
    EXPECT_TRUE(answer->was_seen);
  }
  const std::size_t stride = trace.addresses.size() / 150 + 1;
  for (std::size_t moment = 0; moment < trace.addresses.size(); moment += stride) {
    begin_round();
    answer->was_seen = false;
    ASSERT_TRUE(worker.resume());
    has_one();
    const bool has_stopped = worker.run_along(trace, moment);
    has_come_round();
    if (has_stopped) {
      ASSERT_TRUE(worker.resume());
    }
    ASSERT_TRUE(answer->was_seen) << "after " << moment << " of " << trace.addresses.size()
                                  << " instructions";
  }
  std::copy(entries.begin(), entries.end(), page.entries.begin());
  page.state = SeenState{0, 3}.word();
}

}  // namespace
}  // namespace keysieve
