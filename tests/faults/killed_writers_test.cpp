// A publisher and the loader of a seen set are killed before and after each of their system calls in turn.
#include <gmock/gmock.h>

#include <atomic>

#include "core/publisher/seen/new_segment.hpp"
#include "tests/core/seen/seen_sets.hpp"
#include "tests/faults/published_generations.hpp"
#include "tests/support/shared_page.hpp"
#include "tests/support/traced_process.hpp"

namespace keysieve::test {
namespace {

class KilledPublisher : public TracedGenerations {
 protected:
  void prepare() override { publish_generation(0); }
};

// For a worker that has been there all the time, and for one that starts then.
TEST_F(KilledPublisher, LeavesTheOldPublicationOrTheNewOne) {
  const unsigned stride = soak_rounds(3, 1);
  std::uint64_t generation = 0;
  SetReader worker = reader();
  unsigned stop = 1 + drawn_offset(stride);
  for (; !HasFailure(); stop += stride) {
    SCOPED_TRACE("killed at moment " + std::to_string(stop));
    const std::uint64_t before = generation;
    TracedProcess publisher(publishing(++generation));
    if (!publisher.steps(stop)) break;
    publisher.kill();
    EXPECT_THAT(served(), ::testing::Optional(::testing::AnyOf(before, generation)));
    EXPECT_EQ(served_to(worker), served()) << worker.reason();
    publish_generation(++generation);
    EXPECT_EQ(served(), generation) << "the next publisher does not go on";
    EXPECT_LE(file_names().size(), 2U + 2 * 2U) << "something is left behind";
  }
  EXPECT_GT(stop, 50U);
  soak_report(stop / stride, "kills");
}

// Kills a loader at each system call that it makes for a seen set. The next loader goes on, no memory leaks,
// and no key is new twice unless its memory is gone.

struct LoaderProcess {
  std::atomic<pid_t> pid{0};
};

class KilledSeenWriter : public SeenSets {
 protected:
  // Kills `work` at each moment, each time with a new set. Then a new loader adopts the set
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
  // Checks all that the loaders of a round have made and not removed. Older memory is left out: an earlier
  // process may have had one of their process numbers.
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
