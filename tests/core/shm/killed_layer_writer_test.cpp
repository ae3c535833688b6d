// Adds keys while readers in other processes ask for them, and kills the writer again and again: what a
// reader may count on, and where the next writer goes on.
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <random>

#include "tests/core/shm/live_layer.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/shared_page.hpp"

namespace keysieve {
namespace {

using test::start_process;
using test::wait_for;

constexpr int kReaders = 8;
constexpr int kKills = 60;
constexpr std::uint64_t kKeys = 1'000'000;  // the layer has room for these, more than the writers reach
constexpr std::uint64_t kAgain = 100;       // added once more by each writer, for time: the loader adds all
constexpr std::size_t kBatch = 64;

struct Shared {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> added{0};  // keys 1 to this one
  std::atomic<std::uint64_t> passes{0};
  std::atomic<std::uint64_t> wrong_answers{0};
};

KeyHash hash_of(std::uint64_t n) {
  static const KeyHasher hasher({42});
  return hasher(as_text(std::as_bytes(std::span(&n, 1))));
}

class KilledLayerWriter : public test::LiveLayers {
 protected:
  KilledLayerWriter() : LiveLayers(test::parent_in_memory()) {}

  void start_readers() {
    for (int i = 0; i < kReaders; ++i) {
      readers_.push_back(start_process([this, i] { return read(static_cast<std::uint64_t>(i)); }));
    }
  }
  void TearDown() override {
    shared_->stop = true;
    for (const pid_t reader : readers_) EXPECT_EQ(wait_for(reader), 0);
  }

  // Works like the loader: adds all earlier keys again, then new ones.
  int add_until_killed() const {
    const Publisher publisher = this->publisher();
    LayerWriter writer = publisher.open_layer().value();
    for (std::uint64_t n = std::max<std::uint64_t>(shared_->added, kAgain) - kAgain + 1; n <= kKeys; ++n) {
      writer.add(hash_of(n));
      shared_->added = std::max(n, shared_->added.load());
    }
    for (;;) ::pause();
  }

  // Checks what a reader finds of the keys from `first` on.
  void expect_nothing_lost(std::uint64_t first) const {
    SetReader reader = this->reader();
    const Attachment* attached = reader.follow();
    ASSERT_TRUE(attached) << reader.reason();
    int absent = 0;
    for (std::uint64_t n = first; n <= shared_->added; ++n)
      absent += attached->may_contain(hash_of(n)) ? 0 : 1;
    EXPECT_EQ(absent, 0) << "of " << shared_->added;
  }

  const test::SharedPage<Shared> shared_;

 private:
  // Runs until it is told to stop. It knows that a key is there because the writer has added it, because of
  // the number of live keys (they are added in order), or because it came back as maybe before.
  int read(std::uint64_t seed) const {
    ::setpriority(PRIO_PROCESS, 0, 10);  // there are more readers than processors
    std::mt19937_64 random(seed);
    std::vector<bool> was_maybe(kKeys + 1);
    SetReader reader = this->reader();
    while (!shared_->stop) {
      const Attachment* attached = reader.follow();
      const std::uint64_t there = std::max(shared_->added.load(), attached->layer().keys());
      std::uniform_int_distribution<std::uint64_t> any(1, std::min(2 * there + kBatch, kKeys));
      std::array<std::uint64_t, kBatch> numbers;
      std::array<KeyHash, kBatch> hashes;
      std::array<bool, kBatch> must_be{};
      std::array<bool, kBatch> maybe{};
      for (std::size_t i = 0; i < kBatch; ++i) {
        hashes[i] = hash_of(numbers[i] = any(random));
        must_be[i] = numbers[i] <= there || was_maybe[numbers[i]];
      }
      attached->may_contain_many(hashes, maybe.data());
      for (std::size_t i = 0; i < kBatch; ++i) {
        const bool is_later = attached->may_contain(hashes[i]);
        if ((must_be[i] && !maybe[i]) || (maybe[i] && !is_later)) ++shared_->wrong_answers;
        was_maybe[numbers[i]] = is_later;
      }
      ++shared_->passes;
    }
    return 0;
  }

  std::vector<pid_t> readers_;
};

TEST_F(KilledLayerWriter, NeverTakesAKeyBack) {
  publish_with(empty_layer(kKeys));
  start_readers();
  std::mt19937 random(1);
  std::uniform_int_distribution<useconds_t> moment(0, 4'000);
  for (int kill = 0; kill < kKills; ++kill) {
    const std::uint64_t first_new = shared_->added + 1;
    const pid_t writer = start_process([this] { return add_until_killed(); });
    if (kill % 2 == 1) {  // others may be killed before they add anything
      ASSERT_TRUE(test::eventually([&] { return shared_->added >= first_new; }));
    }
    ::usleep(moment(random));
    ::kill(writer, SIGKILL);
    ASSERT_EQ(wait_for(writer), -SIGKILL) << "the writer ended by itself";
    ASSERT_NO_FATAL_FAILURE(expect_nothing_lost(first_new)) << "after kill " << kill;
  }
  expect_nothing_lost(1);
  EXPECT_TRUE(test::eventually([this] { return shared_->passes > 1'000; }));
  EXPECT_EQ(shared_->wrong_answers, 0U);

  const Attachment& attached = attach();
  int maybe = 0;
  for (std::uint64_t n = 0; n < 1'000; ++n) maybe += attached.may_contain(hash_of(2 * kKeys + n)) ? 1 : 0;
  EXPECT_LT(maybe, 50) << "a layer that answers maybe for everything shows nothing";
}

}  // namespace
}  // namespace keysieve
