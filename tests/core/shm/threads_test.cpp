// The protocol between threads: each has its own reader, one publishes. For ThreadSanitizer, which does not
// see other processes.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/publisher/shm/bypass.hpp"
#include "core/publisher/shm/new_layer.hpp"
#include "tests/core/shm/generations.hpp"
#include "tests/core/shm/live_layer.hpp"

namespace keysieve {
namespace {

constexpr int kReadingThreads = 32;
constexpr std::uint64_t kPublications = 50;

class PublishingBesideThreads : public test::SharedMemory {
 protected:
  void read() {
    SetReader reader = this->reader();
    std::uint64_t before = 0;
    while (before < kPublications) {
      const Attachment* attached = reader.follow();
      if (!attached) continue;  // they come faster than it can attach them
      if (attached->id().publication < before || !generations_.answers_rightly(*attached)) {
        ++failures_;
        return;
      }
      before = attached->id().publication;
      ++passes_;
    }
  }

  const test::Generations generations_{kSet};
  std::atomic<int> failures_{0};
  std::atomic<std::uint64_t> passes_{0};
};

TEST_F(PublishingBesideThreads, GivesEachReaderWholePublicationsInOrder) {
  Publisher publisher = this->publisher();
  publisher.publish(generations_.snapshot(1), 1);
  std::vector<std::thread> readers;
  for (int i = 0; i < kReadingThreads; ++i) readers.emplace_back([this] { read(); });
  for (std::uint64_t generation = 2; generation <= kPublications; ++generation) {
    publisher.publish(generations_.snapshot(generation), generation);
    publisher.confirm(unix_now());
    publisher.beat(unix_now());
  }
  for (std::thread& thread : readers) thread.join();
  EXPECT_EQ(failures_, 0);
  EXPECT_GE(passes_, std::uint64_t{kReadingThreads});
}

// A switch that comes between the publisher's look at the word and its change makes it look again.
TEST_F(PublishingBesideThreads, LosesNeitherAPublicationNorASwitchOfABypass) {
  Publisher publisher = this->publisher();
  const auto snapshot = generations_.snapshot(0);
  publisher.publish(snapshot, 0);
  const MappedPage<ControlPage> control = writable_control();
  std::atomic<std::uint64_t>& current = control.page().current;
  std::atomic<bool> is_over{false};
  std::uint64_t switches = 0;
  std::uint64_t lost = 0;
  std::thread operator_at_work([&] {
    for (; !is_over; ++switches) {
      const bool was_bypassed = is_bypassed(current.fetch_xor(kBypassBit));
      if (was_bypassed == (switches % 2 == 1)) continue;
      ++lost;
      ++switches;
    }
  });
  for (int i = 0; i < 100; ++i) {  // few publications meet a switch
    const std::uint64_t published = publisher.publish(snapshot, 0);
    EXPECT_EQ(publication_of(current), published);
  }
  is_over = true;
  operator_at_work.join();
  EXPECT_EQ(lost, 0U);
  EXPECT_EQ(is_bypassed(current), switches % 2 == 1);
}

// Readers and writer use one mapping, because ThreadSanitizer treats two mappings of a file as different
// memory.
class AddingBesideThreads : public test::LiveLayers {
 protected:
  static constexpr std::uint64_t kKeys = 20'000;

  static KeyHash hash_of(std::uint64_t n) {
    static const KeyHasher hasher(kSeed);
    return hasher(as_text(std::as_bytes(std::span(&n, 1))));
  }

  // A reader that has seen the number of keys, added in order, sees at least that many of them.
  void read(const LiveLayer& layer) {
    std::uint64_t keys = 0;
    while (keys < enough_) {
      keys = layer.keys();
      for (std::uint64_t n = keys > 100 ? keys - 100 : 1; n <= keys; ++n) {
        bool is_maybe_in_batch = false;
        const KeyHash hash = hash_of(n);
        layer.may_contain_many(std::span(&hash, 1), &is_maybe_in_batch);
        if (!is_maybe_in_batch || !layer.may_contain(hash)) ++failures_;
      }
      if (layer_fill(layer).fill_ratio > 0.6) ++failures_;
    }
  }

  std::atomic<std::uint64_t> enough_{UINT64_MAX};
  std::atomic<int> failures_{0};
};

TEST_F(AddingBesideThreads, ShowsEachReaderAllCountedKeys) {
  publish_with(empty_layer(kKeys));
  auto file = open_live_page<LivePage>(SetFolder::open(directory_.path(), kSet, std::nullopt),
                                       live_file_name(1), {writable_control().page().instance, 1});
  const LiveLayer layer = layer_of(file);
  LayerWriter writer(std::move(file));
  std::vector<std::thread> readers;
  for (int i = 0; i < kReadingThreads; ++i) readers.emplace_back([&] { read(layer); });
  for (std::uint64_t n = 1; n <= kKeys; ++n) writer.add(hash_of(n));
  enough_ = writer.live_keys();
  for (std::thread& thread : readers) thread.join();
  EXPECT_EQ(failures_, 0);
  EXPECT_GT(enough_, kKeys * 95 / 100);
}

}  // namespace
}  // namespace keysieve
