// Many refreshes in a row: keysieved and the workers hold no more than at first.
#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/publisher/shm/memory_use.hpp"
#include "core/worker/shm/set_reader.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/shared_page.hpp"
#include "tests/support/soak.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"

namespace keysieve::test {
namespace {

// What a process holds.
struct Resources {
  std::int64_t files = 0;
  std::int64_t mapped_files = 0;  // anonymous mappings are the allocator's own; their bytes count below
  std::int64_t resident_bytes = 0;
};

Resources resources_of(pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  Resources held;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(process + "/fd")) ++held.files;
  std::ifstream maps(process + "/maps");
  for (std::string line; std::getline(maps, line);) held.mapped_files += line.find('/') != std::string::npos;
  std::ifstream status(process + "/status");
  for (std::string name; status >> name; status.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    if (name != "VmRSS:") continue;
    std::int64_t kibibytes = 0;
    status >> kibibytes;
    held.resident_bytes = kibibytes * 1024;
  }
  return held;
}

constexpr unsigned kWorkers = 4;
constexpr unsigned kWarm = 20;  // refreshes until everything has been used once
constexpr int kKeys = 5'000;
constexpr std::int64_t kSlackBytes = 1 << 20;  // for the allocator, whatever the number of refreshes

struct RefreshCounts {
  std::atomic<bool> stop{false};
  std::array<std::atomic<std::uint64_t>, kWorkers> generation{};  // that each worker's answers come from
  std::atomic<std::uint64_t> wrong_answers{0};
};

class Refreshes : public Keysieved {
 protected:
  void SetUp() override {
    site_.configure(tags_set, url_);
    push_next();
    keysieved_.emplace(std::vector<std::string>{"--log-level", "warning", "--config", site_.config_path()});
    ASSERT_TRUE(follows("tags", generation_)) << log();
    for (unsigned i = 0; i < kWorkers; ++i) workers_.push_back(start_process([this, i] { return serve(i); }));
  }
  void TearDown() override {
    shared_->stop = true;
    for (const pid_t worker : workers_) EXPECT_EQ(wait_for(worker), 0);
  }

  void push_next() {
    generation_ = site_.push("tags", {static_cast<int>(generation_), kKeys}, url_).generation;
  }

  void refresh() {
    push_next();
    site_.add("tags", {1'000'000 + static_cast<int>(generation_), 1}, url_);
    ASSERT_TRUE(eventually([this] {
      return std::all_of(shared_->generation.begin(), shared_->generation.end(),
                         [this](const auto& seen) { return seen == generation_; });
    })) << log();
  }

  // Waits until every process has released what was replaced.
  void expect_no_more_than(const Resources& before, pid_t pid, const std::string& who) {
    Resources now;
    EXPECT_TRUE(eventually([&] {
      now = resources_of(pid);
      return now.files <= before.files && now.mapped_files <= before.mapped_files;
    })) << who
        << ": " << before.files << " open files became " << now.files << ", " << before.mapped_files
        << " mapped ones " << now.mapped_files;
    EXPECT_LE(now.resident_bytes, before.resident_bytes + kSlackBytes) << who;
  }

  [[nodiscard]] std::vector<pid_t> processes() const {
    std::vector<pid_t> all{keysieved_->pid()};
    all.insert(all.end(), workers_.begin(), workers_.end());
    return all;
  }

  const SharedPage<RefreshCounts> shared_;
  std::uint64_t generation_ = 0;
  std::vector<pid_t> workers_;

 private:
  int serve(unsigned number) const {
    SetReader reader({.directory = site_.directory()}, "tags");
    while (!shared_->stop) {
      reader.check_soon();
      {
        const Attachment* attached = reader.follow();
        if (!attached) return kUnexpected;
        const std::uint64_t generation = attached->live().generation;
        const KeyHash last =
            attached->snapshot().hasher()(key_number(static_cast<int>(generation) + kKeys - 2));
        if (!attached->may_contain(last)) ++shared_->wrong_answers;
        shared_->generation[number] = generation;
      }
      ::usleep(500);
    }
    return 0;
  }

  RedisServer redis_;
  std::string url_ = redis_.unix_url();
};

TEST_F(Refreshes, LeaveNothingOpenMappedOrInMemory) {
  for (unsigned i = 0; i < kWarm; ++i) ASSERT_NO_FATAL_FAILURE(refresh());
  std::vector<Resources> before;
  for (const pid_t pid : processes()) before.push_back(resources_of(pid));
  const std::uint64_t shared_before = memory_use(site_.directory()).visible_bytes;
  const unsigned rounds = soak_rounds(20, 1'000);
  for (unsigned i = 0; i < rounds; ++i) ASSERT_NO_FATAL_FAILURE(refresh());
  for (std::size_t i = 0; i < before.size(); ++i) {
    expect_no_more_than(before[i], processes()[i], i == 0 ? "keysieved" : "a worker");
  }
  EXPECT_EQ(memory_use(site_.directory()).visible_bytes, shared_before);
  EXPECT_EQ(shared_->wrong_answers, 0U);
  soak_report(rounds, "refreshes");
}

}  // namespace
}  // namespace keysieve::test
