// Cuts the power at any moment while stores, adds mirror, cache and loader write, and leaves the disk in any
// state that is possible then (disk.hpp). Everything acknowledged is there, and nothing older or damaged
// replaces it.
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "tests/faults/power_loss.hpp"
#include "tests/support/soak.hpp"

namespace keysieve::test {
namespace {

class PowerLoss : public ::testing::TestWithParam<Story> {
 protected:
  void SetUp() override {
    if (!can_trace()) GTEST_SKIP() << "may not trace a process";
    generation(0);
    spdlog::set_level(spdlog::level::err);
  }
};

const auto stories_of_few_syncs =
    ::testing::Values(adds_story("adds_to_dir", "dir", 11, 1), adds_story("adds_to_lmdb", "lmdb", 7, 0),
                      mirror_story(), cache_story(), host_story());
const auto stories_of_many_syncs = ::testing::Values(push_story("pushes_to_dir", "dir", 150, 9),
                                                     push_story("pushes_to_lmdb", "lmdb", 37, 0));
std::string story_name(const ::testing::TestParamInfo<Story>& story) {
  return story.param.name;
}
INSTANTIATE_TEST_SUITE_P(OfFewSyncs, PowerLoss, stories_of_few_syncs, story_name);
INSTANTIATE_TEST_SUITE_P(OfManySyncs, PowerLoss, stories_of_many_syncs, story_name);

TEST_P(PowerLoss, LosesNothingThatWasAcknowledged) {
  PowerLosses losses(GetParam());
  EXPECT_EQ(losses.find_wrong(), "");
  soak_report(losses.states(), "states of the disk");
}

TEST_P(PowerLoss, LosesNothingThatWasAcknowledgedAfterAKill) {
  std::size_t states = 0;
  const std::size_t step = soak_rounds(GetParam().calls_between_kills, 1);
  for (std::size_t call = step; !HasFailure(); call += step) {
    PowerLosses losses(GetParam(), call);
    if (!losses.was_killed()) break;
    EXPECT_EQ(losses.find_wrong(), "") << "killed after call " << call;
    states += losses.states();
  }
  soak_report(states, "states of the disk");
}

// So the states are enough to find a sync that is missing.
class EachSync : public PowerLoss {};
INSTANTIATE_TEST_SUITE_P(Stories, EachSync, stories_of_few_syncs, story_name);
INSTANTIATE_TEST_SUITE_P(Nightly, EachSync, stories_of_many_syncs, story_name);

TEST_P(EachSync, IsNeededButTheSpareOnes) {
  PowerLosses losses(GetParam());
  std::string spare;
  std::size_t spares = 0;
  for (std::size_t call = 0; call < losses.calls().size(); ++call) {
    if (!losses.calls()[call].is_sync) continue;
    if (!losses.find_wrong(call).empty()) continue;
    ++spares;
    spare += "; call " + std::to_string(call) + ", " + losses.calls()[call].text;
  }
  EXPECT_EQ(spares, GetParam().spare_syncs) << spare;
}

}  // namespace
}  // namespace keysieve::test
