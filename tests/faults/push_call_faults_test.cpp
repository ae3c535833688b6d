// After a push that meets a fault at any of its system calls, the store holds the whole old generation or
// the whole new one.

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/call_faults.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/soak.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve::test {
namespace {

class PushCallFaults : public ::testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    if (!can_trace()) GTEST_SKIP() << "may not trace a process";
  }

  // Opens the store each time, as the program does.
  void push_to_store(const SnapshotBytes& snapshot) const {
    keysieve::push(*open_store(url_), view_of(snapshot), {});
  }

  FaultyEnd push_with(const CallFault& fault, int at, const SnapshotBytes& snapshot) {
    return faults_.meet(fault, at, [&] { push_to_store(snapshot); });
  }

  // What a loader gets.
  [[nodiscard]] BuildId pulled() const {
    return view_of(pull(*open_store(url_), "tags").snapshot).header().build_id;
  }

  // A store may have made a change that it could not confirm.
  void expect_old_or_new(const FaultyEnd& end, const CallFault& fault, const SnapshotBytes& old_one,
                         const SnapshotBytes& new_one) {
    const BuildId before = view_of(old_one).header().build_id;
    const BuildId after = view_of(new_one).header().build_id;
    const BuildId found = pulled();
    EXPECT_TRUE(found == after || (found == before && !end.is_done)) << end.message;
    if (end.is_done) return;
    const std::string store = GetParam().name;
    if (fault.error_number == 0) {  // LMDB treats a read or a write that was cut short as an error
      EXPECT_EQ(store, kLmdb.name) << end.message;
      return;
    }
    std::vector<std::optional<ErrorKind>> kinds;
    if (store != kRedisUnix.name) kinds.push_back(ErrorKind::CannotCreate);
    // Of a file, EIO and the like are either, depending on whether it is being read or written.
    if (kinds.empty() || fault.error_number != ENOSPC) kinds.push_back(ErrorKind::Unavailable);
    EXPECT_THAT(kinds, Contains(end.kind)) << end.message;
  }

  TemporaryDirectory directory_{fast_folder()};
  std::string url_ = GetParam().empty_store(directory_);
  CallFaults faults_;
};

INSTANTIATE_TEST_SUITE_P(Stores, PushCallFaults, ::testing::Values(kDir, kLmdb, kRedisUnix), store_kind_name);

TEST_P(PushCallFaults, LeaveTheOldGenerationOrTheNewOne) {
  const std::array snapshots{build_snapshot({.shard_count = kShardsOfSomeChunks}),
                             build_snapshot({.shard_count = kShardsOfSomeChunks})};
  push_to_store(snapshots[0]);
  std::size_t old_one = 0;
  const int calls = for_each_call_fault([&](const CallFault& fault, int at) {
    const std::size_t new_one = 1 - old_one;
    const FaultyEnd end = push_with(fault, at, snapshots[new_one]);
    if (!end.has_met_fault) return false;
    SCOPED_TRACE("which is " + std::to_string(end.call));
    expect_old_or_new(end, fault, snapshots[old_one], snapshots[new_one]);
    EXPECT_NO_THROW(push_to_store(snapshots[new_one])) << "the next push does not go on";
    old_one = new_one;
    return true;
  });
  soak_report(static_cast<std::uint64_t>(calls), "system calls");
}

}  // namespace
}  // namespace keysieve::test
