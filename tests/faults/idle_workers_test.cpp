// Idle workers keep the publications that they used last: how much memory that is, where it is reported,
// and what is refused because of it.

#include <atomic>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/publisher/shm/memory_use.hpp"
#include "tests/core/shm/generations.hpp"
#include "tests/core/shm/shared_memory.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/mounts.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/shared_page.hpp"
#include "tests/support/soak.hpp"

namespace keysieve::test {
namespace {

constexpr unsigned kPublications = 20;
constexpr std::uint64_t kOther = 16 * kPageBytes;  // lock, control, folders
constexpr int kLookups = 50;                       // of a request; within these it releases what was replaced

struct IdleCounts {
  std::atomic<bool> ask{false};
  std::atomic<unsigned> attached{0};
  std::atomic<unsigned> answered{0};
  std::atomic<unsigned> wrong{0};
  std::atomic<bool> stop{false};
};

class IdleWorkers : public SharedMemory {
 protected:
  void TearDown() override {
    shared_->stop = true;
    for (const pid_t worker : workers_) EXPECT_EQ(wait_for(worker), 0);
  }

  void start_workers(unsigned count) {
    for (unsigned i = 0; i < count; ++i) workers_.push_back(start_process([this] { return work(); }));
    ASSERT_TRUE(eventually([this] { return shared_->attached == workers_.size(); }));
  }

  [[nodiscard]] static std::uint64_t pinned_in(const std::string& directory) {
    return memory_use(directory).pinned_bytes.value_or(0);
  }

  const SharedPage<IdleCounts> shared_;
  std::vector<pid_t> workers_;

 private:
  // Serves one request at once and one when it is asked for; idle before and after it.
  int work() const {
    SetReader reader = this->reader();
    answer(reader, 1);
    ++shared_->attached;
    while (!shared_->ask) ::usleep(20'000);
    answer(reader, kPublications);
    ++shared_->answered;
    while (!shared_->stop) ::usleep(20'000);
    return 0;
  }
  void answer(SetReader& reader, std::uint64_t at_least) const {
    reader.check_soon();
    for (int lookup = 0; lookup < kLookups; ++lookup) {
      const Attachment* attached = reader.follow();
      const bool is_right = attached && attached->id().publication >= at_least &&
                            may_contain(attached->snapshot(), "key" + std::to_string(lookup));
      if (!is_right) ++shared_->wrong;
    }
    reader.check_soon();  // as at the end of a request
  }
};

TEST_F(IdleWorkers, PinMemoryThatIsMeasuredReportedAndLimited) {
  const MountedTmpfs mounted(directory_.path(), "512m");
  if (!mounted.is_there()) GTEST_SKIP() << "this user may not mount";
  const SnapshotBytes large =
      build_snapshot({.set_name = kSet, .growth = 20.0}, numbered_keys("key", 40'000));
  const unsigned each = soak_rounds(3, 25);
  for (unsigned i = 1; i <= kPublications; ++i) {
    publish(large, i);
    ASSERT_NO_FATAL_FAILURE(start_workers(each));
  }
  const std::uint64_t one = large.get().size() + sizeof(LivePage);
  const std::uint64_t pinned_before = pinned_in(directory_.path());
  EXPECT_GE(pinned_before, (kPublications - 2) * one);
  EXPECT_LE(pinned_before, (kPublications - 2) * one + kOther);

  // The refused publish has removed the name of the publication before the current one, so that one now
  // counts as pinned.
  const std::uint64_t limit = kPublications * one + kOther;
  const PublisherSettings limited{.directory = directory_.path(), .max_total_bytes = limit};
  EXPECT_THAT(message_of<ErrorKind::CannotCreate>(
                  [&] { Publisher(limited, kSet).publish(large.get(), kPublications + 1); }),
              AllOf(HasSubstr("visible and "), HasSubstr(" pinned"), HasSubstr("restart idle PHP workers")));
  const std::uint64_t pinned = pinned_in(directory_.path());
  EXPECT_EQ(pinned, pinned_before + one);
  const auto status = run_program(
      {.program = KEYSIEVE_PROGRAM, .arguments = {"status", "--json", "--directory", directory_.path()}});
  EXPECT_THAT(status.output, HasSubstr("\"pinned_bytes\": " + std::to_string(pinned))) << status.errors;

  shared_->ask = true;
  EXPECT_TRUE(eventually([this] { return shared_->answered == workers_.size(); }));
  EXPECT_EQ(shared_->wrong, 0U);
  EXPECT_LE(pinned_in(directory_.path()), kOther);
  EXPECT_EQ(Publisher(limited, kSet).publish(large.get(), kPublications + 1), kPublications + 1);
  soak_report(std::to_string(workers_.size()) + " idle workers over " + std::to_string(kPublications) +
              " publications: " + std::to_string(pinned) + " bytes pinned, which is " +
              std::to_string(kPublications - 1) +
              " of them, measured, shown by status and refused over max_total_size; 0 after the next "
              "request of each");
}

}  // namespace
}  // namespace keysieve::test
