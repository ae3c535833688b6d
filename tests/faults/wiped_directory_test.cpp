// The directory is wiped while readers use it, as when a container restarts but its workers do not.
// Publications start at 1 again.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "tests/faults/published_generations.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/shared_page.hpp"

namespace keysieve::test {
namespace {

using std::chrono::milliseconds;
using SteadyTime = std::chrono::steady_clock::time_point;

constexpr unsigned kWorkers = 8;

struct WipeCounts {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> generation{0};                 // that was published last
  std::array<std::atomic<std::uint64_t>, kWorkers> seen{};  // by each worker
  std::array<std::atomic<std::uint64_t>, kWorkers> requests{};
  std::atomic<std::uint64_t> wrong_answers{0};
  std::atomic<std::uint64_t> outages{0};
};

class WipedDirectory : public PublishedGenerations {
 protected:
  void SetUp() override {
    publish_next();
    for (unsigned i = 0; i < kWorkers; ++i) {
      workers_.push_back(start_process([this, i] { return serve_requests(i); }));
    }
    ASSERT_TRUE(all_have_seen_it());
  }
  void TearDown() override {
    shared_->stop = true;
    for (const pid_t worker : workers_) EXPECT_EQ(wait_for(worker), 0);
  }

  std::uint64_t publish_next() {
    const std::uint64_t generation = shared_->generation + 1;
    const std::uint64_t publication = publish_generation(generation);
    shared_->generation = generation;
    return publication;
  }

  [[nodiscard]] bool all_have_seen_it() const {
    return eventually([this] {
      return std::all_of(shared_->seen.begin(), shared_->seen.end(),
                         [this](const auto& seen) { return seen == shared_->generation; });
    });
  }

  // Waits until each worker has served so many more requests.
  [[nodiscard]] bool go_on(std::uint64_t requests) const {
    std::vector<std::uint64_t> before(shared_->requests.begin(), shared_->requests.end());
    return eventually([&] {
      for (std::size_t i = 0; i < kWorkers; ++i) {
        if (shared_->requests[i] < before[i] + requests) return false;
      }
      return true;
    });
  }

  const SharedPage<WipeCounts> shared_;

 private:
  // Every answer must come from the last publication.
  int serve_requests(unsigned number) const {
    SetReader reader({.directory = directory_.path()}, kSet);
    while (!shared_->stop) {
      reader.check_soon();
      const std::uint64_t published = shared_->generation;
      const Attachment* attached = reader.follow();
      if (!attached) {
        ++shared_->outages;
      } else {
        const std::uint64_t seen = attached->live().generation;
        if (!generations_.answers_rightly(*attached) || seen < published) ++shared_->wrong_answers;
        shared_->seen[number] = seen;
      }
      ++shared_->requests[number];
      ::usleep(500);
    }
    return 0;
  }

  std::vector<pid_t> workers_;
};

TEST_F(WipedDirectory, ServesUntilTheNextPublicationWhichIsSeenSoon) {
  const unsigned rounds = soak_rounds(2, 100);
  milliseconds slowest{0};
  for (unsigned round = 0; round < rounds; ++round) {
    std::filesystem::remove_all(round % 2 == 0 ? folder() : file(kControlName));
    ASSERT_TRUE(go_on(20));
    const std::uint64_t publication = publish_next();
    EXPECT_EQ(publication == 1, round % 2 == 0);
    const SteadyTime published = std::chrono::steady_clock::now();
    ASSERT_TRUE(all_have_seen_it());
    slowest = std::max(
        slowest, std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - published));
    EXPECT_EQ(shared_->wrong_answers, 0U);
    EXPECT_EQ(shared_->outages, 0U);
    if (HasFailure()) return;
  }
  soak_report("directory, or the control page alone, removed " + std::to_string(rounds) + " times next to " +
              std::to_string(kWorkers) +
              " workers: 0 outages, 0 wrong answers, the next publication seen by all after " +
              std::to_string(slowest.count()) + " ms at most");
}

// The new publication has the number that an idle worker knows, but other keys.
TEST_F(WipedDirectory, ReusesNumbersWithoutConfusingAnIdleWorker) {
  for (unsigned round = 0; round < soak_rounds(10, 200); ++round) {
    SetReader idle = reader();
    const std::uint64_t known = publication_seen_by(idle);
    std::filesystem::remove_all(folder());
    while (publish_next() < known) {
    }
    idle.check_soon();
    EXPECT_EQ(served_to(idle), shared_->generation);
    EXPECT_EQ(publication_seen_by(idle), known);
    if (round % 3 == 0) publish_next();
  }
}

}  // namespace
}  // namespace keysieve::test
