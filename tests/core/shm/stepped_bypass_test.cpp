// Stops the loader at each instruction of clearing a bypass. There an operator sets a new one.
#include "core/publisher/shm/bypass.hpp"
#include "tests/core/shm/shared_memory.hpp"
#include "tests/support/stepped_process.hpp"

namespace keysieve {
namespace {

using SteppedBypass = test::SharedMemory;

// The loader clears an expired bypass. Right after that an operator sets a new one, which is switched off
// again `gap` instructions later.
TEST_F(SteppedBypass, StaysOffWhenItIsSwitchedOffWhileTheLoaderClearsTheOneBefore) {
  publish("key");
  const MappedPage<ControlPage> control = writable_control();
  const auto is_on = [&] { return is_bypassed(control.page().current); };
  bool has_ended = false;
  for (int gap = 0; !has_ended; ++gap) {
    set_bypass(directory_.path(), kSet, 2);
    int since_cleared = -1;
    {
      test::SteppedProcess loader([this] {
        Publisher publisher = this->publisher();
        test::SteppedProcess::stop_here();
        publisher.clear_expired_bypass(unix_now());
        test::SteppedProcess::stop_here();
      });
      if (!loader.may_trace()) GTEST_SKIP() << "may not trace a process";
      do {
        if (since_cleared >= 0 || !is_on()) ++since_cleared;
        if (since_cleared == 0) set_bypass(directory_.path(), kSet, unix_now() + 3'600);
        if (since_cleared == gap) set_bypass(directory_.path(), kSet, kBypassOver);
      } while (loader.step());
    }
    ASSERT_GE(since_cleared, 0);
    has_ended = since_cleared < gap;
    if (has_ended) break;
    EXPECT_EQ(bypasses_in_force(control.page().current, ends_of(control.page()), unix_now()), 0U) << gap;
    publisher().clear_expired_bypass(unix_now());
    ASSERT_FALSE(is_on()) << gap;
  }
}

}  // namespace
}  // namespace keysieve
