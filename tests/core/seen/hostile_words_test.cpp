// What a faulty or hostile worker, or a damaged page, does to the others: answers may be wrong, but no
// process crashes, and the loader goes on.
#include <array>
#include <atomic>
#include <cmath>
#include <random>
#include <vector>

#include "core/publisher/seen/new_segment.hpp"
#include "core/publisher/seen/seen_tags.hpp"
#include "core/worker/seen/seen_facts.hpp"
#include "tests/core/seen/seen_sets.hpp"
#include "tests/support/shared_page.hpp"

namespace keysieve {
namespace {

using test::append;
using test::numbered_hash;
using test::start_process;
using test::wait_for;

constexpr int kHostile = 2;
constexpr int kHonest = 3;

struct Progress {
  std::atomic<bool> stop{false};
  std::array<std::atomic<std::uint64_t>, kHostile + kHonest> rounds{};
};

class HostileWords : public test::SeenSets {
 protected:
  // Whether a bool is what it may be; likewise an answer.
  static bool is_bool(bool answer) {
    std::uint8_t byte = 0;
    std::memcpy(&byte, &answer, sizeof byte);
    return byte <= 1;
  }
  static bool is_answer(SeenAnswer answer) { return answer <= SeenAnswer::Unknown; }
  // All that a loader does with the words.
  static void look_at(const OpenFilter& one) {
    const SeenFill fill = seen_fill(one.filter);
    EXPECT_TRUE(std::isfinite(fill.keys) && fill.keys >= 0) << fill.keys;
    EXPECT_TRUE(fill.rate >= 0 && fill.rate <= 1.0 + 1e-9) << fill.rate;
    for (std::uint64_t word = 0; word < one.filter.words().size(); ++word) {
      for_each_tag(one.filter, word, one.filter.words()[word].load(), one.sent()[word],
                   [&](const SeenTag& tag) {
                     EXPECT_LT(tag.block, one.filter.blocks());
                     EXPECT_TRUE(tag.bits >= tag_bits(kMostTags) && tag.bits <= kMostTagBits) << tag.bits;
                     const double risen = add_tags(one.filter, one.sent(), std::span(&tag, 1));
                     EXPECT_TRUE(risen >= 0 && risen <= 4 * kMostTags) << risen;
                   });
    }
  }
  // All that a worker may ask.
  static bool ask(SeenReader& reader, std::uint64_t seed) {
    std::array<KeyHash, 40> hashes{};
    std::array<bool, 40> are_new{};
    for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = numbered_hash(seed * hashes.size() + i);
    hashes[0] = {0};
    hashes[1] = {~std::uint64_t{0}};
    if (!reader.follow()) return false;
    if (!is_bool(reader.may_contain(hashes[2])) || !is_answer(reader.add_if_new(hashes[3]))) return false;
    if (!reader.is_ready()) return false;
    const std::size_t answered = reader.add_many_if_new(hashes, are_new.data());
    return answered == hashes.size() && std::all_of(are_new.begin(), are_new.end(), is_bool);
  }
};

TEST_F(HostileWords, ChangeAnswersAndNothingElse) {
  SeenWriter writer = started_writer();
  append(writer, {plan()});
  const test::SharedPage<Progress> progress;
  std::vector<pid_t> processes;
  for (std::size_t i = 0; i < kHostile + kHonest; ++i) {
    processes.push_back(start_process([&, i] {
      SeenReader reader = this->reader();
      std::mt19937_64 random(i);
      for (std::uint64_t round = 0; !progress->stop; progress->rounds[i] = ++round) {
        if (i >= kHostile) {
          if (!ask(reader, random())) return 1;
          continue;
        }
        if (!reader.follow()) return 2;
        for (const SeenFilter& filter : reader.filters()) {
          for (Word& word : filter.words()) {
            word.low = random();
            word.high = random() >> random() % 64;
          }
        }
      }
      return 0;
    }));
  }
  SeenReader reader = this->reader();
  for (int window = 0; window < 200; ++window) {
    append(writer, {plan(window)});
    look_at(writer.filters().front());
    look_at(writer.filters().back());
    copy_tags(writer.filters().front().filter, writer.filters().back().filter,
              writer.filters().back().sent());
    if (window == 100) writer.retire(test::at(kForever));
    if (window % 50 == 49) {
      remove_segment(writer.filters().back().segment.key());
      EXPECT_EQ(writer.heal(), 1U);
    }
    if (reader.follow()) {
      EXPECT_TRUE(std::isfinite(seen_facts(reader).estimated_fpr));
    }
    ::usleep(1'000);
  }
  EXPECT_TRUE(test::eventually([&] {
    return std::all_of(progress->rounds.begin(), progress->rounds.end(),
                       [](const std::atomic<std::uint64_t>& rounds) { return rounds > 20; });
  }));
  progress->stop = true;
  for (const pid_t process : processes) EXPECT_EQ(wait_for(process), 0);
}

class DamagedSeenPage : public HostileWords {
 protected:
  // Asks with bytes changed, one at a time, by those who attach the set anew: with each up to the entries
  // that are used, and some of the others.
  void ask_with_bytes_changed(std::byte change) const {
    constexpr std::size_t kUsed = offsetof(SeenPage, entries) + 8 * sizeof(SeenEntry);
    constexpr std::size_t kSomeBytes = 61;
    const MappedPage<SeenPage> file = writable_page();
    auto* const page = reinterpret_cast<std::byte*>(&file.page());
    std::size_t refused = 0;
    for (std::size_t offset = 0; offset < sizeof(SeenPage); offset += offset < kUsed ? 1 : kSomeBytes) {
      page[offset] ^= change;
      SeenReader reader = this->reader();
      if (!ask(reader, offset)) {
        EXPECT_NE(reader.reason(), "") << offset;
        EXPECT_FALSE(reader.is_ready()) << offset;
        ++refused;
      }
      page[offset] ^= change;
    }
    EXPECT_GT(refused, 5U);
    EXPECT_TRUE(reader().follow());
  }
};

TEST_F(DamagedSeenPage, IsRefusedOrAnswers) {
  SeenWriter writer = started_writer();
  append(writer, {plan(), plan()});
  for (const std::byte change : {std::byte{0x01}, std::byte{0xf0}}) ask_with_bytes_changed(change);
}

// While it is attached: `state` is all that such a reader reads again.
TEST_F(DamagedSeenPage, IsNoticedByReadersThatHaveIt) {
  SeenWriter writer = started_writer();
  append(writer, {plan(), plan()});
  SeenReader reader = this->reader();
  ASSERT_TRUE(ask(reader, 1));
  const MappedPage<SeenPage> file = writable_page();
  std::mt19937_64 random(1);
  const std::uint64_t good = file.page().state;
  for (int i = 0; i < 3'000; ++i) {
    const std::uint64_t word = i % 2 == 0 ? random() : good ^ std::uint64_t{1} << random() % 64;
    file.page().state = word;
    if (!ask(reader, random())) {
      EXPECT_FALSE(reader.is_ready());
      EXPECT_NE(reader.reason(), "");
    }
    file.page().state = good;
    ASSERT_TRUE(ask(reader, random())) << reader.reason();
  }
}

}  // namespace
}  // namespace keysieve
