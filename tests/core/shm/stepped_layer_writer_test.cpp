// Looks at a live layer at each instruction of an add to it.
#include <memory>
#include <string>

#include "tests/core/shm/live_layer.hpp"
#include "tests/support/traced_process.hpp"

namespace keysieve {
namespace {

class SteppedLayerWriter : public test::LiveLayers {
 protected:
  SteppedLayerWriter() : LiveLayers(test::parent_in_memory()) {}
};

TEST_F(SteppedLayerWriter, ShowsAKeyFromOneInstructionOnAndNeverTakesItBack) {
  publish_with(empty_layer());
  const Attachment& attached = attach();
  for (std::uint64_t key = 1; key <= 3; ++key) {
    int instructions = 0;
    bool was_maybe = false;
    const auto adding = [&] {
      const auto publisher = std::make_shared<Publisher>(this->publisher());
      const auto writer = std::make_shared<LayerWriter>(publisher->open_layer().value());
      return [publisher, writer, hash = hash(std::to_string(key))] { writer->add(hash); };
    };
    const bool stepped = test::step_through(adding, [&] {
      ++instructions;
      const bool is_maybe = attached.may_contain(hash(std::to_string(key)));
      EXPECT_TRUE(is_maybe || !was_maybe);
      EXPECT_TRUE(is_maybe || attached.layer().keys() < key);
      was_maybe = is_maybe;
    });
    if (!stepped) GTEST_SKIP() << "may not trace a process";
    EXPECT_TRUE(was_maybe);
    EXPECT_GT(instructions, 50);
  }
}

}  // namespace
}  // namespace keysieve
