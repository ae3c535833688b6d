// A publish that meets a fault at any of its system calls leaves the old publication or the new one.

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

  CallFaults faults_;
};

INSTANTIATE_TEST_SUITE_P(Places, PublishCallFaults, ::testing::Values(kMemory, kDisk),
                         [](const auto& place) { return place.param.name; });

// Again, or for the first time.
TEST_P(PublishCallFaults, LeaveTheOldPublicationOrTheNewOne) {
  for (const bool is_first : {false, true}) {
    publish_generation(1);
    SetReader worker = reader();
    const int calls = for_each_call_fault([&](const CallFault& fault, int at) {
      if (is_first) std::filesystem::remove_all(folder());
      const auto before = served();
      const std::uint64_t next = before.value_or(0) + 1;
      const FaultyEnd end = faults_.meet(fault, at, [&] { publish_generation(next); });
      if (!end.has_met_fault) return false;
      SCOPED_TRACE("which is " + std::to_string(end.call) + ": " + end.message);
      EXPECT_EQ(served(), end.is_done ? next : before);
      EXPECT_TRUE(end.is_done || fault.error_number != 0);
      if (!end.is_done) {
        EXPECT_THAT(end.kind, AnyOf(ErrorKind::CannotCreate, ErrorKind::MissingInput));
      }
      EXPECT_TRUE(is_first || served_to(worker) == served());
      EXPECT_LE(std::filesystem::exists(folder()) ? file_names().size() : 0, 2U + 2 * 2U);
      publish_generation(next + 1);
      EXPECT_EQ(served(), next + 1) << "the next publisher does not go on";
      return true;
    });
    soak_report(static_cast<std::uint64_t>(calls), "system calls");
  }
}

}  // namespace
}  // namespace keysieve::test
