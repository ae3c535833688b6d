// Workers that add keys, half of them more than once, while windows come and go and workers are killed.
// Counts how often each key was new. For the suite, and in full size for the program many_adds.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <new>
#include <random>

#include "core/publisher/seen/seen_sizing.hpp"
#include "tests/core/seen/seen_sets.hpp"

namespace keysieve::test {

struct ManyAdds {
  std::size_t workers = 8;
  std::uint64_t adds_per_worker = 0;
  std::uint32_t windows = 0;       // in which these are made
  std::uint32_t live_windows = 0;  // from then on a window is forgotten
  double rate = 0;                 // of each window
  double headroom = 1.2;           // room for so many times the keys of a window: the loader may be late
  std::chrono::microseconds kill_every{0};  // one of the workers, which is started again; 0: never
};

struct ManyAddsResult {
  std::uint64_t keys = 0;       // that were added
  std::uint64_t was_new = 0;    // once at least
  std::uint64_t was_twice = 0;  // new
  std::uint64_t unavailable = 0;
  std::uint64_t late = 0;  // adds that took too long to count
  std::uint64_t kills = 0;
  std::uint32_t windows = 0;
  double seconds = 0;
  double fullest = 0;       // window: share of its capacity, by its tags
  double rate_of_tags = 0;  // mean of all windows, each as it was when the next one began

  [[nodiscard]] std::uint64_t never_new() const { return keys - was_new; }
};

// A key is born in a window, and counts while half of the live windows have begun since: so no call that
// counts, however long it takes, is made when a filter that may hold the key is gone.
class ManyAddsRun {
 public:
  ManyAddsRun(const ManyAdds& load, const std::string& directory, const std::string& set_name)
      : load_(load),
        directory_(directory),
        set_name_(set_name),
        adds_per_window_(load.workers * load.adds_per_worker / load.windows),
        keys_per_window_(static_cast<std::uint64_t>(static_cast<double>(adds_per_window_) / kAddsPerKey)),
        shared_(map<Shared>(1)),
        keys_(map<Key>(keys_per_window_ * (load.windows + 1))) {}
  ManyAddsRun(const ManyAddsRun&) = delete;
  ManyAddsRun& operator=(const ManyAddsRun&) = delete;
  ~ManyAddsRun() {
    ::munmap(shared_, sizeof(Shared));
    ::munmap(keys_, key_count() * sizeof(Key));
  }

  // The writer must have a page without filters.
  ManyAddsResult run(SeenWriter& writer) {
    const SeenPlan plan = this->plan();
    append(writer, plan, 0);
    const auto begin = std::chrono::steady_clock::now();
    std::vector<pid_t> workers;
    for (std::size_t i = 0; i < load_.workers; ++i) workers.push_back(start(i));
    ManyAddsResult result;
    std::mt19937_64 random(1);
    auto next_kill = begin + load_.kill_every;
    std::uint32_t window = 0;
    while (window + 1 < load_.windows || adds() < load_.workers * load_.adds_per_worker) {
      if (window + 1 < load_.windows && adds() >= (window + 1) * adds_per_window_) {
        append(writer, plan, ++window);
        look_at(writer.filters()[writer.filters().size() - 2], result);
        writer.retire(at(window));
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
      if (load_.kill_every.count() != 0 && std::chrono::steady_clock::now() >= next_kill) {
        const std::size_t victim = random() % load_.workers;
        ::kill(workers[victim], SIGKILL);
        if (wait_for(workers[victim]) == -SIGKILL) ++result.kills;
        workers[victim] = start(victim);
        next_kill = std::chrono::steady_clock::now() + load_.kill_every;
      }
    }
    for (const pid_t worker : workers) EXPECT_EQ(wait_for(worker), 0);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result.windows = window + 1;
    result.rate_of_tags /= window;
    result.unavailable = shared_->unavailable;
    result.late = shared_->late;
    for (std::uint64_t i = 0; i < key_count(); ++i) {
      const unsigned times = keys_[i] % kAdded;
      result.keys += keys_[i] >= kAdded ? 1U : 0U;
      result.was_new += times > 0 ? 1U : 0U;
      result.was_twice += times > 1 ? 1U : 0U;
    }
    return result;
  }

  // Of a key that was not added before: the sum of all live windows.
  [[nodiscard]] double rate() const { return load_.live_windows * load_.rate; }

 private:
  // Then half of the adds are of a key that was added before: (1 - e^-n) / n = 0.5.
  static constexpr double kAddsPerKey = 1.594;
  // A worker may have made the adds of so many windows to come, before it waits for the loader.
  static constexpr std::uint64_t kWindowsAhead = 4;
  // Of a key: this bit, and how often it was new.
  static constexpr unsigned kAdded = 128;
  using Key = std::atomic<std::uint8_t>;

  struct Shared {
    std::atomic<std::uint32_t> window{0};
    std::atomic<std::uint64_t> unavailable{0};
    std::atomic<std::uint64_t> late{0};
    struct alignas(kCacheLineBytes) Progress {
      std::atomic<std::uint64_t> adds{0};
    };
    std::array<Progress, 64> progress{};
  };

  template <typename T>
  static T* map(std::uint64_t count) {
    void* address =
        ::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) throw std::bad_alloc();
    return new (address) T[count];
  }

  [[nodiscard]] std::uint64_t key_count() const { return keys_per_window_ * (load_.windows + 1); }
  [[nodiscard]] std::uint64_t adds() const {
    std::uint64_t sum = 0;
    for (const auto& progress : shared_->progress) sum += progress.adds;
    return sum;
  }
  [[nodiscard]] SeenPlan plan() const {
    const auto capacity =
        static_cast<std::uint64_t>(static_cast<double>(adds_per_window_) / 2 * load_.headroom);
    return {.capacity = capacity, .rate = load_.rate, .size = seen_size(capacity, load_.rate)};
  }
  void append(SeenWriter& writer, SeenPlan plan, std::uint32_t window) const {
    plan.window = {.begins = window, .ends = window + 1, .kept_for = load_.live_windows - 1};
    writer.append(plan, window);
    shared_->window = window;
  }

  static void look_at(const OpenFilter& one, ManyAddsResult& result) {
    const SeenFill fill = seen_fill(one.filter);
    result.fullest = std::max(result.fullest, fill.keys / static_cast<double>(one.plan.capacity));
    result.rate_of_tags += fill.rate;
  }

  [[nodiscard]] pid_t start(std::size_t worker) const {
    return start_process([this, worker] {
      add(shared_->progress[worker].adds, worker);
      return 0;
    });
  }
  // Goes on where the one before it was killed.
  void add(std::atomic<std::uint64_t>& progress, std::uint64_t seed) const {
    SeenReader reader({.directory = directory_}, set_name_);
    std::mt19937_64 random(seed << 32 ^ progress);
    while (progress < load_.adds_per_worker) {
      const std::uint32_t window = shared_->window;
      if (progress > (window + kWindowsAhead) * load_.adds_per_worker / load_.windows) {
        std::this_thread::yield();
        continue;
      }
      const std::uint32_t born =
          window - static_cast<std::uint32_t>(random() % (std::min(window, load_.live_windows / 4) + 1));
      const std::uint64_t number = born * keys_per_window_ + random() % keys_per_window_;
      ++progress;
      if (!reader.follow()) {
        ++shared_->unavailable;
        continue;
      }
      const SeenAnswer answer = reader.add_if_new(numbered_hash(number));
      if (answer == SeenAnswer::Unknown) ++shared_->unavailable;
      if (shared_->window - born > load_.live_windows / 2) {
        ++shared_->late;
        continue;
      }
      keys_[number] |= kAdded;
      if (answer == SeenAnswer::New) ++keys_[number];
    }
  }

  ManyAdds load_;
  std::string directory_;
  std::string set_name_;
  std::uint64_t adds_per_window_;
  std::uint64_t keys_per_window_;
  Shared* shared_;
  Key* keys_;
};

}  // namespace keysieve::test
