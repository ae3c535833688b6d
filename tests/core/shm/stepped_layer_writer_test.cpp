// Looks at a live layer at each instruction of an add to it, which is where its writer may be killed.
#include <string>

#include "tests/core/shm/live_layer.hpp"
#include "tests/support/stepped_process.hpp"

namespace keysieve {
namespace {

class SteppedLayerWriter : public test::LiveLayers {
 protected:
  SteppedLayerWriter() : LiveLayers(test::fast_folder()) {}
};

TEST_F(SteppedLayerWriter, ShowsAKeyFromOneInstructionOnAndNeverTakesItBack) {
  publish_with(empty_layer());
  const Attachment& attached = attach();
  for (std::uint64_t key = 1; key <= 3; ++key) {
    int instructions = 0;
    bool was_maybe = false;
    const KeyHash added = hash(std::to_string(key));
    test::SteppedProcess loader([&] {
      const Publisher publisher = this->publisher();
      LayerWriter writer = publisher.open_layer().value();
      test::SteppedProcess::stop_here();
      writer.add(added);
      test::SteppedProcess::stop_here();
    });
    if (!loader.may_trace()) GTEST_SKIP() << "may not trace a process";
    do {
      ++instructions;
      const bool is_maybe = attached.may_contain(added);
      EXPECT_TRUE(is_maybe || !was_maybe);
      EXPECT_TRUE(is_maybe || attached.layer().keys() < key);
      was_maybe = is_maybe;
    } while (loader.step());
    EXPECT_TRUE(was_maybe);
    EXPECT_GT(instructions, 50);
  }
}

}  // namespace
}  // namespace keysieve
