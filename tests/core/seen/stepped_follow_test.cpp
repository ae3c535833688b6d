// Stops a worker while it attaches filters, for so long that the loader has come round in the page and writes
// the entries that the worker is reading: it must notice.
#include <atomic>

#include "tests/core/seen/seen_sets.hpp"
#include "tests/support/shared_page.hpp"
#include "tests/support/stepped_process.hpp"

namespace keysieve {
namespace {

using test::numbered_hash;
using test::SteppedProcess;
using test::was_seen;

struct SharedAnswer {
  std::atomic<bool> was_seen{false};
};

using SteppedFollow = test::SeenSets;

TEST_F(SteppedFollow, MixesNoOldStateWithNewEntries) {
  const KeyHash key = numbered_hash(1);
  SeenWriter writer = new_writer();
  // The key is in the first, which will be gone, and in the second, which comes before the third.
  for (int i = 0; i < 3; ++i) {
    const OpenFilter& made = writer.make(plan(i + 1), 0);
    EXPECT_TRUE(i == 2 || made.filter.add_if_new(key));
  }
  writer.show();
  const SeenPageFile file = writable_page_file();
  SeenPage& page = file.writable_page();
  const SeenState all = writer.state();
  const std::array<SeenEntry, 3> entries{page.entry(all.first), page.entry(all.first + 1),
                                         page.entry(all.first + 2)};
  const auto begin_round = [&] {
    page.state = SeenState{}.word();
    page.entries[0] = entries[0];
  };
  const auto has_one = [&] { page.state = SeenState{0, 1}.word(); };
  const auto has_come_round = [&] {
    page.entries[kSeenEntries - 1] = entries[1];
    page.entries[0] = entries[2];
    page.state = SeenState{kSeenEntries - 1, 2}.word();
  };

  const test::SharedPage<SharedAnswer> answer;
  SteppedProcess worker([&] {
    SeenReader reader = this->reader();
    for (;;) {
      SteppedProcess::stop_here();
      if (reader.follow()) return;
      SteppedProcess::stop_here();
      answer->was_seen = was_seen(reader, key);
    }
  });
  if (!worker.may_trace()) GTEST_SKIP() << "may not trace a process";
  SteppedProcess::Trace trace;
  for (int round = 0; round < 2; ++round) {  // the dynamic linker does its part in the first
    begin_round();
    ASSERT_TRUE(worker.resume());
    has_one();
    trace = worker.trace();
    EXPECT_TRUE(answer->was_seen);
  }
  const std::size_t stride = trace.addresses.size() / 150 + 1;
  for (std::size_t moment = 0; moment < trace.addresses.size(); moment += stride) {
    begin_round();
    answer->was_seen = false;
    ASSERT_TRUE(worker.resume());
    has_one();
    const bool has_stopped = worker.run_along(trace, moment);
    has_come_round();
    if (has_stopped) {
      ASSERT_TRUE(worker.resume());
    }
    ASSERT_TRUE(answer->was_seen) << "after " << moment << " of " << trace.addresses.size()
                                  << " instructions";
  }
  std::copy(entries.begin(), entries.end(), page.entries.begin());
  page.state = SeenState{0, 3}.word();
}

}  // namespace
}  // namespace keysieve
