// Every order in which the steps of three publishers and a reader can follow each other, with kills, and with
// lock, control page or directory removed by hand at any moment. A key is added at any moment too.
#include "tests/faults/protocol_model.hpp"

#include <gtest/gtest.h>

#include <string>
#include <unordered_set>

#include "core/worker/base/checksum.hpp"
#include "tests/support/soak.hpp"

namespace keysieve::test {
namespace {

struct Found {
  std::uint64_t states = 0;
  std::uint64_t steps = 0;
  bool is_wrong = false;    // a reader took what was removed, used again, half written, or older
  bool is_lost = false;     // a reader called the key absent after it had been seen
  bool is_neither = false;  // what is current is not there
  std::uint64_t attached = 0;
};

// Compares states by their 64-bit hashes.
enum class Neither { Ends, IsBorne };
Found explore(const ModelState& first, const Protocol& protocol = {}, Neither neither = Neither::Ends) {
  Found found;
  std::unordered_set<std::uint64_t> seen;
  std::vector<ModelState> open;
  const auto visit = [&](const ModelState& state) {
    if (!seen.insert(checksum(std::as_bytes(std::span(&state, 1)))).second) return;
    found.is_wrong = found.is_wrong || state.is_wrong != 0;
    found.is_lost = found.is_lost || state.is_lost != 0;
    found.is_neither = found.is_neither || !is_served(state);
    if (state.reader.serving != 0) ++found.attached;
    open.push_back(state);
  };
  visit(first);
  while (!open.empty() && !found.is_wrong && !found.is_lost &&
         (!found.is_neither || neither == Neither::IsBorne)) {
    const ModelState state = open.back();
    open.pop_back();
    for (const ModelState& next : successors(state, protocol)) {
      ++found.steps;
      visit(next);
    }
  }
  found.states = seen.size();
  return found;
}

// A state with so many publishers that have not begun.
ModelState state_with(std::uint8_t publishers) {
  ModelState state;
  for (std::size_t i = publishers; i < kPublishers; ++i) state.publishers[i].step = Step::Ended;
  return state;
}

// Events from outside, each at any moment and this often.
struct Deeds {
  std::uint8_t kills = 0;
  std::uint8_t lock_removals = 0;
  std::uint8_t control_removals = 0;
  std::uint8_t wipes = 0;
};

ModelState state_with(std::uint8_t publishers, const Deeds& deeds) {
  ModelState state = state_with(publishers);
  state.kills = deeds.kills;
  state.lock_removals = deeds.lock_removals;
  state.control_removals = deeds.control_removals;
  state.wipes = deeds.wipes;
  return state;
}

class ProtocolModel : public ::testing::Test {
 protected:
  Found explore_all(const ModelState& first, Neither neither = Neither::Ends) {
    const Found found = explore(first, {}, neither);
    EXPECT_FALSE(found.is_wrong) << found.states;
    EXPECT_FALSE(found.is_lost) << found.states;
    EXPECT_GT(found.attached, found.states / 20);
    states_ += found.states;
    steps_ += found.steps;
    return found;
  }

  // In short runs the third publisher is left out.
  std::uint8_t publishers_ = static_cast<std::uint8_t>(soak_rounds(2, kPublishers));
  std::uint64_t states_ = 0;
  std::uint64_t steps_ = 0;
};

TEST_F(ProtocolModel, CallsNoKeyAbsentThatWasAddedAndSeen) {
  EXPECT_FALSE(explore_all(state_with(3, {.kills = 1})).is_neither);
}

TEST_F(ProtocolModel, ShowsNoReaderWhatIsRemovedUsedAgainOrHalfWritten) {
  for (const Deeds& deeds : {Deeds{.kills = 2}, Deeds{.kills = 1, .lock_removals = 1, .wipes = 1},
                             Deeds{.kills = 1, .control_removals = 1, .wipes = 1}}) {
    EXPECT_FALSE(explore_all(state_with(publishers_, deeds)).is_neither);
  }
  soak_report("model of the protocol, " + std::to_string(publishers_) + " publishers and a reader: all " +
              std::to_string(states_) + " states and " + std::to_string(steps_) +
              " steps: no reader takes what was removed, used again or half written, or calls an added key "
              "absent that "
              "was seen; what is current is there");
}

// If an operator removes the lock file and the control page but not the folder, a second publisher gets in.
// One of the two may remove what the other has just made current. Workers that start then get no answers
// until the next publication, but never wrong ones.
TEST_F(ProtocolModel, ShowsNoReaderAnythingWrongWhenBothGuardsAreRemovedByHand) {
  const Deeds both{.kills = 1, .lock_removals = 1, .control_removals = 1, .wipes = 1};
  EXPECT_TRUE(explore_all(state_with(publishers_, both), Neither::IsBorne).is_neither);
}

// Without a safeguard the model finds an error.
TEST_F(ProtocolModel, FindsAnErrorWithoutEachSafeguard) {
  const ModelState killed = state_with(2, {.kills = 1});
  EXPECT_TRUE(explore(state_with(2, {.lock_removals = 1}), {.holds_control = false}).is_neither);
  EXPECT_TRUE(explore(killed, {.names_before_current = false}).is_neither);
  EXPECT_TRUE(explore(killed, {.keeps_current = false}).is_neither);
  EXPECT_TRUE(explore(state_with(2, {.wipes = 1}), {.checks_instance = false}).is_wrong);
  EXPECT_TRUE(explore(state_with(3), {.asks_previous_at_most = false}).is_lost);
  EXPECT_TRUE(explore(state_with(2), {.adds_to_previous = false}).is_lost);
  EXPECT_TRUE(explore(state_with(2), {.fills_before_publishing = false}).is_lost);
}

}  // namespace
}  // namespace keysieve::test
