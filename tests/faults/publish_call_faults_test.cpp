// A publish that meets a fault at any of its system calls: the old publication stays, or the new one is
// there.
#include <gmock/gmock.h>

#include <system_error>

#include "tests/core/shm/generations.hpp"
#include "tests/core/shm/shared_memory.hpp"
#include "tests/support/call_faults.hpp"
#include "tests/support/soak.hpp"

namespace keysieve {
namespace {

using test::CallFault;
using test::FaultyEnd;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Memory, and a disk, where a publish syncs.
struct Place {
  const char* name;
  std::filesystem::path (*parent)();
};
const Place kMemory{"memory", [] { return test::parent_in_memory(); }};
const Place kDisk{"disk", [] { return std::filesystem::temp_directory_path(); }};

class PublishCallFaults : public test::SharedMemory, public ::testing::WithParamInterface<Place> {
 protected:
  PublishCallFaults() : SharedMemory(GetParam().parent()) {}

  void SetUp() override {
    if (!test::can_trace()) GTEST_SKIP() << "may not trace a process";
  }

  void publish_generation(std::uint64_t generation) const {
    publisher().publish(generations_.snapshot(generation), generation);
  }

  // Which generation a worker is answered from that starts now; nothing when it is answered maybe.
  [[nodiscard]] std::optional<std::uint64_t> served() const {
    SetReader reader = this->reader();
    const Attachment* attached = reader.follow();
    if (!attached) return std::nullopt;
    EXPECT_TRUE(generations_.answers_rightly(*attached));
    return attached->live().generation;
  }

  FaultyEnd publish_with(const CallFault& fault, int at, std::uint64_t generation) {
    return faults_.meet(fault, at, [&] { publish_generation(generation); });
  }

  // What a publish that met the fault has left behind, and what its error said.
  void expect_old_or_new(const FaultyEnd& end, const CallFault& fault, std::optional<std::uint64_t> before,
                         std::uint64_t generation) {
    EXPECT_EQ(served(), end.is_done ? generation : before) << end.message;
    if (end.is_done) {
      ++done_;
      return;
    }
    ++failed_;
    EXPECT_NE(fault.error_number, 0) << end.message;
    EXPECT_THAT(end.message, AllOf(HasSubstr(directory_.path()),
                                   HasSubstr(std::generic_category().message(fault.error_number))));
    EXPECT_LE(std::filesystem::exists(folder()) ? file_names().size() : 0, 2U + 2 * 2U);
  }

  void report(const std::string& what) const {
    test::soak_report("publish, " + what + " (" + GetParam().name + "): " + std::to_string(done_ + failed_) +
                      " faults at " + std::to_string(calls_) + " system calls: " + std::to_string(done_) +
                      " times the new publication, " + std::to_string(failed_) +
                      " times the old one and an error that names file and reason");
  }

  const test::Generations generations_{kSet};
  test::CallFaults faults_;
  int calls_ = 0;
  int done_ = 0;
  int failed_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Places, PublishCallFaults, ::testing::Values(kMemory, kDisk),
                         [](const auto& place) { return place.param.name; });

TEST_P(PublishCallFaults, LeaveTheOldPublicationOrTheNewOne) {
  std::uint64_t generation = 1;
  publish_generation(generation);
  SetReader worker = reader();
  for (std::size_t i = 0; i < test::kCallFaults.size(); ++i) {
    const CallFault& fault = test::kCallFaults[i];
    for (int at = 1;; ++at) {
      if (!test::is_of_this_round(i, at)) continue;
      SCOPED_TRACE(std::string(fault.name) + " at call " + std::to_string(at));
      const std::uint64_t before = generation;
      const FaultyEnd end = publish_with(fault, at, ++generation);
      if (!end.has_met_fault) break;
      calls_ = std::max(calls_, at);
      SCOPED_TRACE("which is " + std::to_string(end.call));
      expect_old_or_new(end, fault, before, generation);
      const Attachment* attached = worker.follow();
      ASSERT_TRUE(attached);
      EXPECT_TRUE(generations_.answers_rightly(*attached));
      EXPECT_EQ(attached->live().generation, end.is_done ? generation : before);
      publish_generation(++generation);
      ASSERT_EQ(served(), generation) << "the next publisher does not go on";
    }
  }
  report("again");
}

TEST_P(PublishCallFaults, LeaveNothingInTheWayOfTheFirstPublication) {
  for (std::size_t i = 0; i < test::kCallFaults.size(); ++i) {
    const CallFault& fault = test::kCallFaults[i];
    for (int at = 1;; ++at) {
      if (!test::is_of_this_round(i, at)) continue;
      SCOPED_TRACE(std::string(fault.name) + " at call " + std::to_string(at));
      std::filesystem::remove_all(folder());
      const FaultyEnd end = publish_with(fault, at, 1);
      if (!end.has_met_fault) break;
      calls_ = std::max(calls_, at);
      SCOPED_TRACE("which is " + std::to_string(end.call));
      expect_old_or_new(end, fault, std::nullopt, 1);
      publish_generation(2);
      ASSERT_EQ(served(), 2U) << "the next publisher does not go on";
    }
  }
  report("for the first time");
}

}  // namespace
}  // namespace keysieve
