// Idle workers keep the publications that they used last: how much memory that is, where it is reported,
// and what is refused because of it.

#include <list>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/publisher/shm/memory_use.hpp"
#include "tests/core/shm/shared_memory.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/mounts.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/soak.hpp"

namespace keysieve::test {
namespace {

constexpr unsigned kPublications = 20;
constexpr std::uint64_t kOther = 16 * kPageBytes;  // lock, control, folders

class IdleWorkers : public SharedMemory {
 protected:
  [[nodiscard]] std::uint64_t pinned_bytes() const {
    return memory_use(directory_.path()).pinned_bytes.value_or(0);
  }
};

TEST_F(IdleWorkers, PinMemoryThatIsMeasuredReportedAndLimited) {
  const MountedTmpfs mounted(directory_.path(), "512m");
  if (!mounted.is_there()) GTEST_SKIP() << "this user may not mount";
  const SnapshotBytes large =
      build_snapshot({.set_name = kSet, .growth = 20.0}, numbered_keys("key", 40'000));
  std::list<SetReader> workers;
  for (unsigned i = 1; i <= kPublications; ++i) {
    publish(large, i);
    workers.emplace_back(ReaderSettings{.directory = directory_.path()}, kSet);
    EXPECT_EQ(publication_seen_by(workers.back()), i);
    workers.back().check_soon();  // as at the end of a request
  }
  const std::uint64_t one = large.get().size() + sizeof(LivePage);
  const std::uint64_t pinned_before = pinned_bytes();
  EXPECT_GE(pinned_before, (kPublications - 2) * one);
  EXPECT_LE(pinned_before, (kPublications - 2) * one + kOther);

  // The refused publish has removed the name of the publication before the current one, so that one now
  // counts as pinned.
  const std::uint64_t limit = kPublications * one + kOther;
  const PublisherSettings limited{.directory = directory_.path(), .max_total_bytes = limit};
  EXPECT_THAT(message_of<ErrorKind::CannotCreate>(
                  [&] { Publisher(limited, kSet).publish(large.get(), kPublications + 1); }),
              AllOf(HasSubstr("visible and "), HasSubstr(" pinned"), HasSubstr("restart idle PHP workers")));
  const std::uint64_t pinned = pinned_bytes();
  EXPECT_EQ(pinned, pinned_before + one);
  const auto status = run_program(
      {.program = KEYSIEVE_PROGRAM, .arguments = {"status", "--json", "--directory", directory_.path()}});
  EXPECT_THAT(status.output, HasSubstr("\"pinned_bytes\": " + std::to_string(pinned))) << status.errors;

  for (SetReader& worker : workers) {
    EXPECT_EQ(publication_seen_by(worker), kPublications);
    worker.check_soon();
  }
  EXPECT_LE(pinned_bytes(), kOther);
  EXPECT_EQ(Publisher(limited, kSet).publish(large.get(), kPublications + 1), kPublications + 1);
  soak_report(kPublications, "workers");
}

}  // namespace
}  // namespace keysieve::test
