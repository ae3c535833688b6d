// What can happen to a store and to the hosts that follow it.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <ostream>

namespace keysieve::test {

inline constexpr int kHistoryKeys = 60;

enum class Action {
  Add,         // to the log; the transaction that it belongs to stays open
  Commit,      // all open transactions
  Import,      // a key that comes into the source without being added to the log
  BeginBuild,  // notes adds_from and reads the source; every other build knows all keys as absent
  FinishBuild,
  Push,  // a whole build
  PublishByHand,
  Look,
  Restart,
  Reboot,
  RollBack,  // to the oldest that is kept
  CollectGarbage,
  StoreDown,
  StoreUp,
  Replicate,
  FailOver,  // to the replica: what came after is lost
};

struct Step {
  Action action;
  int number;  // of a key or a host

  friend std::ostream& operator<<(std::ostream& out, const Step& step) {
    constexpr std::array kNames{"Add",         "Commit",  "Import",        "BeginBuild",
                                "FinishBuild", "Push",    "PublishByHand", "Look",
                                "Restart",     "Reboot",  "RollBack",      "CollectGarbage",
                                "StoreDown",   "StoreUp", "Replicate",     "FailOver"};
    return out << kNames.at(static_cast<std::size_t>(step.action)) << " " << step.number;
  }
};

inline rc::Gen<Step> any_step() {
  const auto action = rc::gen::weightedElement<Action>({{12, Action::Add},
                                                        {3, Action::Commit},
                                                        {2, Action::Import},
                                                        {2, Action::BeginBuild},
                                                        {2, Action::FinishBuild},
                                                        {4, Action::Push},
                                                        {1, Action::PublishByHand},
                                                        {12, Action::Look},
                                                        {2, Action::Restart},
                                                        {1, Action::Reboot},
                                                        {2, Action::RollBack},
                                                        {1, Action::CollectGarbage},
                                                        {1, Action::StoreDown},
                                                        {3, Action::StoreUp},
                                                        {1, Action::Replicate},
                                                        {1, Action::FailOver}});
  return rc::gen::construct<Step>(action, rc::gen::inRange(0, kHistoryKeys));
}

}  // namespace keysieve::test
