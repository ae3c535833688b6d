// Readers in processes of their own verify every answer while the publisher is killed again and again:
// before and after each of its system calls in turn, and at random moments.
#include <sys/resource.h>

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <random>

#include "core/publisher/seen/new_segment.hpp"
#include "tests/core/seen/seen_sets.hpp"
#include "tests/faults/published_generations.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/shared_page.hpp"
#include "tests/support/traced_process.hpp"

namespace keysieve::test {
namespace {

constexpr std::uint64_t kGenerationsPerPublisher = 1'000'000;
constexpr int kPassesOfAReader = 50;  // then it opens the set again, like a worker that starts

// Counts in memory that the processes share.
struct KillCounts {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> passes{0};       // of verification
  std::atomic<std::uint64_t> attachments{0};  // seen by readers
  std::atomic<std::uint64_t> wrong_answers{0};
  std::atomic<std::uint64_t> numbers_fell{0};
  std::atomic<std::uint64_t> outages{0};  // an attached set that stopped answering
};

class KilledPublisher : public PublishedGenerations {
 protected:
  void SetUp() override {
    publish_generation(0);
    for (unsigned i = 0; i < soak_rounds(8, 32); ++i) {
      readers_.push_back(start_process([&] { return read(); }));
    }
  }
  void TearDown() override {
    shared_->stop = true;
    for (const pid_t reader : readers_) EXPECT_EQ(wait_for(reader), 0);
  }

  // Kills a publisher before or after one of its system calls, at the next moment each time.
  void kill_inside_a_publish(std::uint64_t generation) {
    TracedProcess publisher(publishing(generation));
    for (std::uint64_t stop = 0; stop <= next_stop_; ++stop) {
      if (publisher.step()) continue;
      ASSERT_EQ(publisher.finish(), 0);
      stops_ = next_stop_;
      next_stop_ = 0;  // there are no more: start again at the first
      return;
    }
    publisher.kill();
    next_stop_ += soak_rounds(3, 1);
    ++kills_inside_;
  }

  // Starts a publisher, and kills it somewhere in its work.
  void kill_a_publisher(std::uint64_t first_generation) {
    const pid_t child = start_process([&] { return publish_for_ever(first_generation); });
    ::usleep(moment_(random_));
    ::kill(child, SIGKILL);
    ASSERT_EQ(wait_for(child), -SIGKILL) << "the publisher ended by itself";
    ++kills_at_random_;
  }

  // On a busy machine it takes more kills for that.
  [[nodiscard]] bool seen_enough() const { return shared_->passes > 1'000 && shared_->attachments > 100; }

  const SharedPage<KillCounts> shared_;
  std::uint64_t stops_ = 0;  // in one publish
  std::uint64_t kills_inside_ = 0;
  std::uint64_t kills_at_random_ = 0;

 private:
  // Reads until it is told to stop.
  int read() const {
    // There are more readers than processors, and the publisher must make progress.
    ::setpriority(PRIO_PROCESS, 0, 10);
    std::uint64_t highest = 0;
    while (!shared_->stop) {
      SetReader reader = this->reader();
      bool answered = false;
      for (int pass = 0; pass < kPassesOfAReader && !shared_->stop; ++pass) {
        const Attachment* attached = reader.follow();
        // At the very first look every attempt to attach may be too late. Once attached, none is.
        if (!attached && answered) ++shared_->outages;
        if (!attached) continue;
        answered = true;
        const std::uint64_t publication = attached->id().publication;
        if (publication < highest) ++shared_->numbers_fell;
        if (publication > highest) ++shared_->attachments;
        highest = std::max(highest, publication);
        if (!generations_.answers_rightly(*attached)) ++shared_->wrong_answers;
        ++shared_->passes;
      }
    }
    return 0;
  }

  // Publishes until it is killed.
  [[noreturn]] int publish_for_ever(std::uint64_t first_generation) const {
    for (std::uint64_t generation = first_generation;; ++generation) publish_generation(generation);
  }

  std::uint64_t next_stop_ = 0;
  std::vector<pid_t> readers_;
  std::mt19937 random_{1};  // the same moments each time, as far as the scheduler lets them be
  std::uniform_int_distribution<useconds_t> moment_{0, 25'000};
};

TEST_F(KilledPublisher, NeverMakesAReaderAnswerWrongly) {
  const std::uint64_t kills = soak_rounds(75, 1'000);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(10);
  for (std::uint64_t kill = 1; kills_inside_ + kills_at_random_ < kills ||
                               (!seen_enough() && std::chrono::steady_clock::now() < deadline);
       ++kill) {
    const bool inside = can_trace() && kill % 3 != 0;
    if (inside) {
      ASSERT_NO_FATAL_FAILURE(kill_inside_a_publish(kill * kGenerationsPerPublisher));
    } else {
      ASSERT_NO_FATAL_FAILURE(kill_a_publisher(kill * kGenerationsPerPublisher));
    }
    ASSERT_TRUE(served()) << "after kill " << kill;
  }
  EXPECT_EQ(shared_->wrong_answers, 0U);
  EXPECT_EQ(shared_->numbers_fell, 0U);
  EXPECT_EQ(shared_->outages, 0U);
  EXPECT_TRUE(seen_enough()) << shared_->passes << " passes, " << shared_->attachments << " attachments";
  soak_report("publisher killed " + std::to_string(kills_inside_) +
              " times before or behind a system call of a publish, " + std::to_string(kills_at_random_) +
              " times at random, next to " + std::to_string(soak_rounds(8, 32)) +
              " readers: " + std::to_string(shared_->passes) + " passes over all keys and " +
              std::to_string(shared_->attachments) + " attachments, " +
              std::to_string(shared_->wrong_answers) + " wrong answers, " + std::to_string(shared_->outages) +
              " outages; one publish has " + std::to_string(stops_) + " such moments");
}

// Kills a loader before and behind each system call that it makes for a seen set: the next one goes on, no
// memory is left that nobody knows of, and no key is new twice unless its memory is gone.

struct LoaderProcess {
  std::atomic<pid_t> pid{0};
};

class KilledSeenWriter : public SeenSets {
 protected:
  // Kills `work` at each moment, each time of a set that was started anew. Then a new loader adopts the set
  // or creates it, and `check` gets that loader, whether it adopted, and a worker that has been there all the
  // time.
  template <typename Work, typename Check>
  void kill_everywhere(Work work, Check check) {
    if (!can_trace()) GTEST_SKIP() << "may not trace a process";
    unsigned moments = 0;
    for (bool was_killed = true; was_killed; ++moments) {
      SCOPED_TRACE("killed at moment " + std::to_string(moments));
      start_anew();
      SeenReader worker = reader();
      EXPECT_TRUE(is_new(worker, numbered_hash(1)));
      {
        TracedProcess loader([&] {
          SeenWriter writer = this->writer();
          if (!writer.adopt()) return 1;
          loader_->pid = ::getpid();
          work(writer);
          return 0;
        });
        was_killed = loader.steps(moments);
        if (was_killed) {
          loader.kill();
        } else {
          ASSERT_EQ(loader.finish(), 0);
        }
      }
      SeenWriter writer = this->writer();
      const bool has_adopted = writer.adopt();
      if (!has_adopted) writer.create(kSeed, OnUnavailable::New);
      worker.check_soon();
      worker.follow();  // lets go of what was removed
      // Nothing leads to these any more.
      if (writer.filters().empty()) remove_segments_of(moved_folder());
      expect_no_memory_left(writer);
      check(writer, has_adopted, worker);
      if (writer.state().is_empty()) append(writer, {plan()});
      SeenReader fresh = reader();
      EXPECT_TRUE(is_new(fresh, numbered_hash(2))) << fresh.reason();
      EXPECT_FALSE(is_new(fresh, numbered_hash(2)));
      EXPECT_FALSE(is_new(worker, numbered_hash(2)));
      if (HasFailure()) return;
    }
    EXPECT_GT(moments, 20U);
  }

  [[nodiscard]] std::string moved_folder() const { return folder() + "-moved"; }

 private:
  // All that the loaders of a round have made and not removed. What an earlier process has left may have one
  // of their process numbers.
  void expect_no_memory_left(const SeenWriter& writer) const {
    std::uint64_t resident_bytes = 0;
    std::size_t count = 0;
    for (const SegmentStatus& segment : all_segments()) {
      if (segment.creator != ::getpid() && segment.creator != loader_->pid) continue;
      if (std::ranges::count(before_, segment.key, &SegmentStatus::key) != 0) continue;
      resident_bytes += segment.resident_bytes;
      ++count;
    }
    EXPECT_EQ(resident_bytes, writer.state().size * 2 * kPageBytes);
    EXPECT_EQ(count, writer.state().size);
  }
  void start_anew() const {
    std::filesystem::remove_all(moved_folder());
    SeenWriter writer = this->writer();
    static_cast<void>(writer.adopt());
    writer.create(kSeed, OnUnavailable::New);
    append(writer, {plan(1), plan(2), plan()});
    loader_->pid = 0;
  }

  const SharedPage<LoaderProcess> loader_;
  const std::vector<SegmentStatus> before_ = all_segments();
};

TEST_F(KilledSeenWriter, HasAppendedAllFiltersOrNone) {
  kill_everywhere(
      [](SeenWriter& writer) {
        append(writer, {plan(), plan()});
      },
      [](const SeenWriter& writer, bool has_adopted, SeenReader& worker) {
        EXPECT_TRUE(has_adopted);
        EXPECT_THAT(writer.state().size, ::testing::AnyOf(3U, 5U));
        EXPECT_FALSE(is_new(worker, numbered_hash(1)));
      });
}

TEST_F(KilledSeenWriter, HasRetiredAllThatHaveExpiredOrNone) {
  kill_everywhere([](SeenWriter& writer) { writer.retire(at(2)); },
                  [](const SeenWriter& writer, bool has_adopted, SeenReader& worker) {
                    EXPECT_TRUE(has_adopted);
                    EXPECT_THAT(writer.state().size, ::testing::AnyOf(3U, 1U));
                    EXPECT_FALSE(is_new(worker, numbered_hash(1)));
                  });
}

// The keys of a filter whose memory was removed go with the loader that had it attached, unless it had made
// the copy. The others stay.
TEST_F(KilledSeenWriter, HasHealedAFilterOrLostIt) {
  for (const std::size_t lost : {0U, 2U}) {
    int whole = 0;
    kill_everywhere(
        [lost](SeenWriter& writer) {
          remove_segment(writer.filters()[lost].segment.key());
          writer.heal();
        },
        [&](const SeenWriter& writer, bool has_adopted, SeenReader& worker) {
          EXPECT_TRUE(has_adopted);
          EXPECT_EQ(writer.filters().size(), writer.state().size);
          EXPECT_THAT(writer.filters().size(), ::testing::AnyOf(2U, 3U));
          if (writer.lost().empty()) {
            EXPECT_EQ(writer.filters().size(), 3U);
          }
          whole += writer.lost().empty() ? 1 : 0;
          // The worker has added the key to the newest.
          if (lost == 0 || writer.lost().empty()) {
            EXPECT_FALSE(is_new(worker, numbered_hash(1)));
          }
        });
    if (IsSkipped()) return;
    EXPECT_GT(whole, 1) << "killed before the memory was removed, or behind the copy";
  }
}

// From a page that the path does not lead to any more. A new one is there with all filters, or not at all.
TEST_F(KilledSeenWriter, HasTakenOverAllFiltersOrNone) {
  int taken = 0;
  kill_everywhere(
      [&](SeenWriter& writer) {
        std::filesystem::rename(folder(), moved_folder());
        SeenWriter next = this->writer();
        next.take_over(writer);
      },
      [&](const SeenWriter& writer, bool has_adopted, SeenReader& worker) {
        EXPECT_EQ(writer.state().size, has_adopted ? 3U : 0U);
        EXPECT_TRUE(writer.lost().empty());
        if (!has_adopted) return;
        ++taken;
        SeenReader fresh = reader();
        EXPECT_FALSE(is_new(fresh, numbered_hash(1)));
        EXPECT_FALSE(is_new(worker, numbered_hash(1)));
      });
  EXPECT_GT(taken, IsSkipped() ? -1 : 1);
}

// Its keys are gone with the old page, but then no worker goes on with that one.
TEST_F(KilledSeenWriter, HasReplacedThePageOrNot) {
  kill_everywhere(
      [](SeenWriter& writer) {
        writer.create(kSeed, OnUnavailable::New);
        append(writer, {plan()});
      },
      [&](SeenWriter& writer, bool has_adopted, SeenReader& worker) {
        if (writer.state().is_empty()) append(writer, {plan()});
        SeenReader fresh = reader();
        EXPECT_TRUE(fresh.follow()) << fresh.reason();
        const bool is_new_again = fresh.add_if_new(numbered_hash(1)) == SeenAnswer::New;
        EXPECT_EQ(is_new_again, !has_adopted || writer.state().size != 3);
        EXPECT_FALSE(is_new(worker, numbered_hash(1)));
      });
}

}  // namespace
}  // namespace keysieve::test
