// A push that meets a fault at any of its system calls: the store holds the old generation whole, or the new
// one.
#include <gmock/gmock.h>

#include <system_error>

#include "core/base/error.hpp"
#include "tests/support/call_faults.hpp"
#include "tests/support/soak.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

using test::CallFault;
using test::FaultyEnd;
using ::testing::AllOf;
using ::testing::HasSubstr;

class PushCallFaults : public ::testing::TestWithParam<test::StoreKind> {
 protected:
  void SetUp() override {
    if (!test::can_trace()) GTEST_SKIP() << "may not trace a process";
  }

  // As the program does it: the store is opened anew.
  void push_to_store(const SnapshotBytes& snapshot) const {
    keysieve::push(*open_store(url_), test::view_of(snapshot), {});
  }

  FaultyEnd push_with(const CallFault& fault, int at, const SnapshotBytes& snapshot) {
    return faults_.meet(fault, at, [&] { push_to_store(snapshot); });
  }

  // What a loader gets.
  [[nodiscard]] BuildId pulled() const {
    return test::view_of(pull(*open_store(url_), "tags").snapshot).header().build_id;
  }

  // A store may have done what it could not confirm.
  void expect_old_or_new(const FaultyEnd& end, const CallFault& fault, const SnapshotBytes& old_one,
                         const SnapshotBytes& new_one) {
    const BuildId before = test::view_of(old_one).header().build_id;
    const BuildId after = test::view_of(new_one).header().build_id;
    const BuildId found = pulled();
    EXPECT_TRUE(found == after || (found == before && !end.is_done)) << end.message;
    ++(end.is_done ? done_ : found == after ? unconfirmed_ : failed_);
    if (end.is_done) return;
    // LMDB takes a write that was cut short for an error.
    EXPECT_TRUE(fault.error_number != 0 || GetParam().name == std::string(test::kLmdb.name)) << end.message;
    const std::string reason =
        fault.error_number != 0 ? std::generic_category().message(fault.error_number) : "";
    EXPECT_THAT(end.message, AllOf(HasSubstr(named()), HasSubstr(reason)));
  }

  // As messages name the store: without its parameters.
  [[nodiscard]] std::string named() const { return url_.substr(0, url_.find('?')); }

  test::TemporaryDirectory directory_{test::fast_folder()};
  std::string url_ = GetParam().empty_store(directory_);
  test::CallFaults faults_;
  int done_ = 0;
  int failed_ = 0;
  int unconfirmed_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Stores, PushCallFaults, ::testing::Values(test::kDir, test::kLmdb, test::kRedisUnix),
                         test::store_kind_name);

TEST_P(PushCallFaults, LeaveTheOldGenerationOrTheNewOne) {
  const std::array snapshots{test::build_snapshot({.shard_count = test::kShardsOfSomeChunks}),
                             test::build_snapshot({.shard_count = test::kShardsOfSomeChunks})};
  push_to_store(snapshots[0]);
  std::size_t old_one = 0;
  int calls = 0;
  for (std::size_t i = 0; i < test::kCallFaults.size(); ++i) {
    const CallFault& fault = test::kCallFaults[i];
    for (int at = 1;; ++at) {
      if (!test::is_of_this_round(i, at)) continue;
      SCOPED_TRACE(std::string(fault.name) + " at call " + std::to_string(at));
      const std::size_t new_one = 1 - old_one;
      const FaultyEnd end = push_with(fault, at, snapshots[new_one]);
      if (!end.has_met_fault) break;
      calls = std::max(calls, at);
      SCOPED_TRACE("which is " + std::to_string(end.call));
      expect_old_or_new(end, fault, snapshots[old_one], snapshots[new_one]);
      ASSERT_NO_THROW(push_to_store(snapshots[new_one])) << "the next push does not go on";
      old_one = new_one;
    }
  }
  test::soak_report(
      "push to " + std::string(GetParam().name) + ": " + std::to_string(done_ + failed_ + unconfirmed_) +
      " faults at " + std::to_string(calls) + " system calls: " + std::to_string(done_) +
      " times the new generation, " + std::to_string(failed_) + " times the old one and an error, " +
      std::to_string(unconfirmed_) + " times the new one and an error; all name store and reason");
}

}  // namespace
}  // namespace keysieve
