// The steps of a refresh. They throw, and this is the one place where the kind of an error becomes an
// outcome.
#pragma once

#include "core/worker/base/error.hpp"
#include "tools/loader/report/refresh_outcome.hpp"
#include "tools/transfer/guards.hpp"
#include "tools/transfer/pointer_record.hpp"

namespace keysieve {

enum class Step {
  OpenSet,        // take its lock, write to its pages
  PublishCached,  // because nothing whole is live
  AskStore,       // for the set's records
  ReadPointer,
  Compare,  // the store's build with what is live, and with what was
  ReadAdds,
  Fetch,
  Check,
  Publish,
  ReadBypass,
  FillLayer,
};

// Where a refresh is.
struct At {
  Step step = Step::OpenSet;
  SnapshotRecord build{};  // of Compare to Publish: the one to be published
  bool is_again = false;   // it has ended here before, and is not tried again yet

  [[nodiscard]] bool is_about_a_build() const noexcept {
    return step == Step::Compare || step == Step::Fetch || step == Step::Check || step == Step::Publish;
  }
};

// What users are told when this error has ended a refresh or a part of it. `is_live`: something is.
RefreshOutcome outcome_of(const Error& error, const At& at, bool is_live);

// A store that cannot be asked, other than one that holds something wrong.
inline bool is_no_answer(const Error& error, const At& at) {
  return at.step == Step::AskStore || at.step == Step::ReadAdds ||
         (at.step == Step::Fetch && !is_refusal(error));
}

RefreshOutcome gone_again();

}  // namespace keysieve
