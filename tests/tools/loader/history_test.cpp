// Random histories of a store and two hosts, against an exact model: no key that a host has received is ever
// absent there, whatever is added, built, pushed, published, rolled back, lost or restarted. Property-based:
// a history that fails is shrunk to a short one. RC_PARAMS="max_success=5000" tries more.
#include <gtest/gtest.h>

#include "tests/tools/loader/history/world.hpp"
#include "tools/loader/logging.hpp"

namespace keysieve::test {
namespace {

using Parameters = std::tuple<const char*, bool>;

std::string parameters_name(const ::testing::TestParamInfo<Parameters>& info) {
  return std::string(std::get<0>(info.param)) +
         (std::get<1>(info.param) ? "_late_commits" : "_commits_at_once");
}

class Histories : public ::testing::TestWithParam<Parameters> {};

INSTANTIATE_TEST_SUITE_P(Stores, Histories,
                         ::testing::Combine(::testing::Values("lmdb", "dir", "http", "memcached"),
                                            ::testing::Bool()),
                         parameters_name);

TEST_P(Histories, NoKeyThatAHostHasReceivedIsEverAbsentThere) {
  set_log_level("error");
  const auto [scheme, late_commits] = GetParam();
  const bool holds = rc::check([scheme = scheme, late_commits = late_commits] {
    const auto steps = *rc::gen::container<std::vector<Step>>(any_step());
    World world(scheme, late_commits);
    for (const Step& step : steps) {
      world.take(step);
      world.check();
    }
    world.heal_and_check();
  });
  EXPECT_TRUE(holds);
  // It would hold as well if every answer were maybe.
  EXPECT_LT(World::unknown_and_maybe, World::unknown_and_absent / 20);
  EXPECT_GT(World::absent_for_late, 0U);
}

}  // namespace
}  // namespace keysieve::test
