// A publish that meets a fault at any of its system calls leaves the old publication or the new one.

#include <system_error>

#include "tests/faults/published_generations.hpp"
#include "tests/support/call_faults.hpp"
#include "tests/support/matchers.hpp"

namespace keysieve::test {
namespace {

// Memory, or a disk, where a publish syncs.
struct Place {
  const char* name;
  std::filesystem::path (*parent)();
};
const Place kMemory{"memory", [] { return fast_folder(); }};
const Place kDisk{"disk", [] { return std::filesystem::temp_directory_path(); }};

class PublishCallFaults : public TracedGenerations, public ::testing::WithParamInterface<Place> {
 protected:
  PublishCallFaults() : TracedGenerations(GetParam().parent()) {}

  FaultyEnd publish_with(const CallFault& fault, int at, std::uint64_t generation) {
    return faults_.meet(fault, at, [&] { publish_generation(generation); });
  }

  // Checks what a publish that met the fault has left behind, and its error.
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
    soak_report("publish, " + what + " (" + GetParam().name + "): " + std::to_string(done_ + failed_) +
                " faults at " + std::to_string(calls_) + " system calls: " + std::to_string(done_) +
                " times the new publication, " + std::to_string(failed_) +
                " times the old one and an error that names file and reason");
  }

  CallFaults faults_;
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
  calls_ = for_each_call_fault([&](const CallFault& fault, int at) {
    const std::uint64_t before = generation;
    const FaultyEnd end = publish_with(fault, at, ++generation);
    if (!end.has_met_fault) return false;
    SCOPED_TRACE("which is " + std::to_string(end.call));
    expect_old_or_new(end, fault, before, generation);
    EXPECT_EQ(served_to(worker), end.is_done ? generation : before);
    publish_generation(++generation);
    EXPECT_EQ(served(), generation) << "the next publisher does not go on";
    return true;
  });
  report("again");
}

TEST_P(PublishCallFaults, LeaveNothingInTheWayOfTheFirstPublication) {
  calls_ = for_each_call_fault([&](const CallFault& fault, int at) {
    std::filesystem::remove_all(folder());
    const FaultyEnd end = publish_with(fault, at, 1);
    if (!end.has_met_fault) return false;
    SCOPED_TRACE("which is " + std::to_string(end.call));
    expect_old_or_new(end, fault, std::nullopt, 1);
    publish_generation(2);
    EXPECT_EQ(served(), 2U) << "the next publisher does not go on";
    return true;
  });
  report("for the first time");
}

}  // namespace
}  // namespace keysieve::test
