// The protocol between threads: each has its own reader, one publishes. For ThreadSanitizer, which does not
// see processes.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/shm/bypass.hpp"
#include "tests/core/shm/generations.hpp"
#include "tests/core/shm/shared_memory.hpp"

namespace keysieve {
namespace {

constexpr int kReaders = 4;
constexpr std::uint64_t kPublications = 150;

class PublishingBesideThreads : public test::SharedMemory {
 protected:
  void read() {
    SetReader reader = this->reader();
    std::uint64_t before = 0;
    while (before < kPublications) {
      const SetReader::Pin pin = reader.pin();
      if (!pin || pin->id().publication < before || !generations_.answers_rightly(*pin)) {
        ++failures_;
        return;
      }
      before = pin->id().publication;
      ++passes_;
    }
  }

  const test::Generations generations_{kSet};
  std::atomic<int> failures_{0};
  std::atomic<std::uint64_t> passes_{0};
};

TEST_F(PublishingBesideThreads, GivesEachReaderWholePublicationsInTheirOrder) {
  Publisher publisher = this->publisher();
  publisher.publish(generations_.snapshot(1), 1);
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) readers.emplace_back([this] { read(); });
  for (std::uint64_t generation = 2; generation <= kPublications; ++generation) {
    publisher.publish(generations_.snapshot(generation), generation);
    publisher.confirm(unix_now());
    publisher.beat(unix_now());
  }
  for (std::thread& thread : readers) thread.join();
  EXPECT_EQ(failures_, 0);
  EXPECT_GE(passes_, std::uint64_t{kReaders});
}

TEST_F(PublishingBesideThreads, LeavesNoBypassBehindWhenItIsSwitchedMeanwhile) {
  Publisher publisher = this->publisher();
  publisher.publish(generations_.snapshot(0), 0);
  std::thread operator_at_work([this] {
    for (int i = 0; i < 200; ++i) {
      set_bypass(directory_.path(), kSet, 0);
      clear_bypass(directory_.path(), kSet);
    }
  });
  std::thread loader_at_work([this] {
    for (int i = 0; i < 200; ++i) {
      set_store_bypass(directory_.path(), kSet, 0);
      clear_store_bypass(directory_.path(), kSet);
    }
  });
  std::uint64_t last = 0;
  for (std::uint64_t generation = 1; generation <= 50; ++generation) {
    last = publisher.publish(generations_.snapshot(generation), generation);
  }
  operator_at_work.join();
  loader_at_work.join();
  EXPECT_EQ(writable_control().page().current, last);
}

}  // namespace
}  // namespace keysieve
