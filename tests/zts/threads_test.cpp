// Threads that run PHP with the extension, in one process, while sets are published, filled and bypassed:
// each has readers of its own, which go when the thread ends.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/publisher/shm/bypass.hpp"
#include "core/publisher/shm/publisher.hpp"
#include "tests/core/sample_snapshot.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/zts/php_thread.hpp"

namespace keysieve::test {
namespace {

// What this process holds, to be compared before and after.
struct HeldResources {
  std::size_t heap_bytes;
  std::size_t mappings;
  std::size_t set_mappings;  // of files in a folder
  std::size_t files;         // open ones
};

HeldResources held_resources(const std::string& folder) {
  HeldResources held{};
  const struct mallinfo2 heap = ::mallinfo2();
  held.heap_bytes = heap.uordblks + heap.hblkhd;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    ++held.mappings;
    if (line.find(folder) != std::string::npos) ++held.set_mappings;
  }
  maps.close();
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) ++held.files;
  return held;
}

constexpr const char* kSet = "pages";
constexpr std::size_t kThreads = 16;
constexpr std::size_t kPublications = 1'000;
constexpr int kKeys = 2'000;  // as in request.php
constexpr std::size_t kAddsPerPublication = 3;
constexpr std::size_t kVariants = 4;

// What request.php returns.
struct Answers {
  explicit Answers(const RequestResult& result)
      : wrong(result[0]), absent(result[1]), publication(static_cast<std::uint64_t>(result[2])) {}

  std::int64_t wrong;   // keys of the set that came back as absent
  std::int64_t absent;  // of 20 keys that are not in the set
  std::uint64_t publication;
};

// Counts up; others wait until it has reached a number.
class Counter {
 public:
  void add_one() {
    ++count_;
    count_.notify_all();
  }
  [[nodiscard]] std::uint64_t get() const { return count_; }
  void await(std::uint64_t count) const {
    for (std::uint64_t now = count_; now < count; now = count_) count_.wait(now);
  }

 private:
  std::atomic<std::uint64_t> count_{0};
};

class PhpThreads : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    // One heap for all threads: glibc would keep those of ended threads for new ones.
    ::mallopt(M_ARENA_MAX, 1);
    folder_ = std::make_unique<TemporaryDirectory>(fast_folder());
    const std::string sets = "keysieve.directory=" + directory();
    const std::string log = "error_log=" + log_path();
    php_ = std::make_unique<EmbeddedPhp>(*folder_ / "php.ini",
                                         "extension=" KEYSIEVE_EXTENSION "\n" + sets + "\n" + log + "\n");
  }
  static void TearDownTestSuite() {
    php_.reset();
    folder_.reset();
  }

  PhpThreads() {
    for (std::size_t i = 0; i < kVariants; ++i) {
      std::vector<std::string> keys = numbered_keys("key ", kKeys);
      const auto others = numbered_keys("variant " + std::to_string(i) + " ", kKeys);
      keys.insert(keys.end(), others.begin(), others.end());
      variants_.push_back(build_snapshot({.set_name = kSet, .seed = kSeed}, keys));
    }
    std::filesystem::remove_all(directory());
    std::filesystem::create_directory(directory());
    publisher_ = std::make_unique<Publisher>(PublisherSettings{.directory = directory()}, kSet);
    publish();
  }

  static std::string directory() { return *folder_ / "sets"; }
  static std::string log_path() { return *folder_ / "log"; }

  // All keys that were added are in the new layer.
  void publish() {
    NewLayer layer(layer_geometry_for(kAddsPerPublication * kPublications, 0.01));
    for (std::uint64_t n = 0; n < added_; ++n) layer.add(hash_of_added(n));
    const Bytes snapshot = std::as_const(variants_[generation_++ % kVariants]).get();
    published_ = publisher_->publish(snapshot, generation_, layer);
  }

  void add_keys() {
    LayerWriter current = publisher_->open_layer().value();
    for (std::size_t i = 0; i < kAddsPerPublication; ++i) {
      current.add(hash_of_added(added_));
      ++added_;
    }
  }

  // Runs a request and checks its answers. If it began and ended within one bypass, none may be absent.
  Answers ask(PhpThread& php) {
    const std::uint64_t bypasses = bypass_changes_;
    RequestResult result{};
    try {
      result = php.request("(require '" KEYSIEVE_REQUEST "')(" + std::to_string(added_) + ")");
    } catch (const std::exception& failure) {
      fail(failure.what());
    }
    const Answers answers(result);
    const bool all_was_bypassed = bypasses % 2 == 1 && bypass_changes_ == bypasses;
    if (answers.wrong != 0) fail(std::to_string(answers.wrong) + " keys of the set came back as absent");
    if (all_was_bypassed && answers.absent != 0) {
      fail(std::to_string(answers.absent) + " keys came back as absent from a bypassed set");
    }
    absent_ += static_cast<std::uint64_t>(answers.absent);
    requests_.add_one();
    if (all_was_bypassed) bypassed_requests_.add_one();
    return answers;
  }

  // Runs `work` with a PHP thread, in a thread that begins and ends with it.
  std::thread start(std::function<void(PhpThread&)> work) {
    ++started_;
    return std::thread([work = std::move(work)] {
      PhpThread php;
      work(php);
    });
  }

  void fail(const std::string& why) {
    if (failures_++ == 0) ADD_FAILURE() << why;
  }

  // The first lines of PHP's log.
  static std::string log() {
    std::ifstream file(log_path());
    std::string text;
    std::string line;
    for (int lines = 0; lines < 20 && std::getline(file, line); ++lines) text += line + "\n";
    return text;
  }

  void serve_some(PhpThread& php);
  void serve_until_the_last(PhpThread& php);
  void switch_bypass(std::size_t publication);

  static inline std::unique_ptr<TemporaryDirectory> folder_;
  static inline std::unique_ptr<EmbeddedPhp> php_;

  std::vector<SnapshotBytes> variants_;
  std::unique_ptr<Publisher> publisher_;
  std::uint64_t generation_ = 0;
  std::atomic<std::uint64_t> published_{0};
  std::atomic<std::uint64_t> added_{0};           // keys that every lookup from now on must find
  std::atomic<std::uint64_t> bypass_changes_{0};  // odd: the set is bypassed
  std::atomic<bool> is_last_published_{false};
  Counter requests_;
  Counter bypassed_requests_;  // that began and ended within one bypass
  std::uint64_t bypassed_before_ = 0;
  std::atomic<std::uint64_t> absent_{0};
  std::atomic<std::uint64_t> started_{0};
  std::atomic<std::uint64_t> failures_{0};

 private:
  static KeyHash hash_of_added(std::uint64_t n) { return hash_of("added " + std::to_string(n)); }
};

// A thread of a server that lets its threads end after some requests.
void PhpThreads::serve_some(PhpThread& php) {
  constexpr int kRequests = 25;
  std::uint64_t before = 0;
  for (int i = 0; i < kRequests && !is_last_published_; ++i) {
    const std::uint64_t publication = ask(php).publication;
    if (publication < before) fail("publication " + std::to_string(publication) + " came after a later one");
    before = publication;
  }
}

// A thread that lives as long as its server: at last it must answer from the last publication.
void PhpThreads::serve_until_the_last(PhpThread& php) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(10);
  for (;;) {
    const bool is_last_published = is_last_published_;
    if (ask(php).publication == published_ && is_last_published) return;
    if (is_last_published && std::chrono::steady_clock::now() > until) {
      return fail("a thread has not attached the last publication");
    }
  }
}

// Either of the two, for some publications of every fifty, and for at least one request.
void PhpThreads::switch_bypass(std::size_t publication) {
  const bool in_store = publication % 100 < 50;
  if (publication % 50 == 10) {
    in_store ? set_store_bypass(directory(), kSet, 0) : set_bypass(directory(), kSet, 0);
    ++bypass_changes_;
    bypassed_before_ = bypassed_requests_.get();
  }
  if (publication % 50 == 13) {
    bypassed_requests_.await(bypassed_before_ + 1);
    ++bypass_changes_;
    in_store ? set_store_bypass(directory(), kSet, kBypassOver) : set_bypass(directory(), kSet, kBypassOver);
  }
}

TEST_F(PhpThreads, NeverSayAbsentOfAKeyOfTheSetWhileEverythingChanges) {
  constexpr std::uint64_t kRequestsPerPublication = 6;
  std::vector<std::thread> places;
  for (std::size_t place = 0; place < kThreads; ++place) {
    const bool stays = place % 8 == 0;  // two of them live through all publications
    places.emplace_back([this, stays] {
      if (stays) return start([this](PhpThread& php) { serve_until_the_last(php); }).join();
      while (!is_last_published_) start([this](PhpThread& php) { serve_some(php); }).join();
    });
  }
  for (std::size_t i = 0; i < kPublications; ++i) {
    switch_bypass(i);
    publish();
    add_keys();
    requests_.await(kRequestsPerPublication * i);
  }
  is_last_published_ = true;
  for (std::thread& place : places) place.join();

  EXPECT_EQ(failures_, 0U) << log();
  EXPECT_GE(started_, 10 * kThreads);
  EXPECT_GE(absent_, requests_.get()) << "of 20 keys that are not in the set, in each request";
  std::printf("%zu publications, %zu keys added, %zu requests in %zu threads, %zu in bypasses\n",
              kPublications, added_.load(), requests_.get(), started_.load(), bypassed_requests_.get());
}

TEST_F(PhpThreads, GiveBackMemoryMappingsAndFilesWhenTheyEnd) {
  constexpr int kWarmingWaves = 3;  // until PHP and glibc hold what they keep
  constexpr int kWaves = 50;
  constexpr std::size_t kMappingsPerThread = 3;  // control page, snapshot, live file
  constexpr std::size_t kThreadsInAll = kWaves * kThreads;
  HeldResources before{};
  // Bytes per thread, also without the extension: pgsql of 8.4.11 does not free its strings.
  std::size_t lost_by_php = 0;
  start([&lost_by_php](PhpThread& php) {
    if (php.request("[(int) extension_loaded('pgsql'), 0, 0]").front() != 0) lost_by_php = 2'210;
  }).join();
  for (int wave = 0; wave < kWarmingWaves + kWaves; ++wave) {
    if (wave == kWarmingWaves) before = held_resources(directory());
    std::barrier together(kThreads + 1);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < kThreads; ++i) {
      threads.push_back(start([this, &together](PhpThread& php) {
        ask(php);
        together.arrive_and_wait();  // each has attached the same publication
        together.arrive_and_wait();  // there is a newer one
        ask(php);
      }));
    }
    together.arrive_and_wait();
    EXPECT_GE(held_resources(directory()).set_mappings, kMappingsPerThread * kThreads);
    publish();
    add_keys();
    together.arrive_and_wait();
    for (std::thread& thread : threads) thread.join();
  }
  const HeldResources after = held_resources(directory());
  EXPECT_EQ(failures_, 0U) << log();
  EXPECT_EQ(after.set_mappings, before.set_mappings);
  EXPECT_LT(after.mappings, before.mappings + kThreadsInAll / 10);
  EXPECT_EQ(after.files, before.files);
  EXPECT_LT(after.heap_bytes, before.heap_bytes + (lost_by_php + 40) * kThreadsInAll)
      << "a reader has more than 1,000 bytes";
  std::printf("%zu threads: heap %zu -> %zu bytes, mappings %zu -> %zu, files %zu\n", kThreadsInAll,
              before.heap_bytes, after.heap_bytes, before.mappings, after.mappings, after.files);
}

}  // namespace
}  // namespace keysieve::test
