// Readers in processes of their own verify every answer while the publisher is killed again and again:
// before and after each of its system calls in turn, and at random moments.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <random>

#include "tests/faults/published_generations.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/shared_page.hpp"

namespace keysieve::test {
namespace {

using std::chrono::milliseconds;

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
      readers_.push_back(start_process([&] { return read(milliseconds(static_cast<int>(i % 2))); }));
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
  int read(milliseconds max_jitter) const {
    // There are more readers than processors, and the publisher must make progress.
    ::setpriority(PRIO_PROCESS, 0, 10);
    std::uint64_t highest = 0;
    while (!shared_->stop) {
      SetReader reader = this->reader(max_jitter);
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

}  // namespace
}  // namespace keysieve::test
