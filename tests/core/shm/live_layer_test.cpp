// The live layer from both sides: what is added is answered maybe, beside the snapshot, by every way of
// asking.
#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "core/filters/sizing.hpp"
#include "tests/core/shm/shared_memory.hpp"

namespace keysieve {
namespace {

using test::numbered_keys;

constexpr double kFpr = 0.01;

class LiveLayerTest : public test::SharedMemory {
 protected:
  static constexpr std::uint64_t kSeed = 42;

  void publish_with(const NewLayer& layer) const {
    publisher().publish(snapshot_of("base", {.set_name = kSet, .seed = kSeed}).get(), 1, layer);
  }
  void publish_empty(std::uint64_t keys = 1'000) const {
    publish_with(NewLayer(layer_geometry_for(keys, kFpr), {}));
  }
  static KeyHash hash(std::string_view key) { return hash_key(key, kSeed); }
};

TEST_F(LiveLayerTest, TakesAtLeastOneShard) {
  EXPECT_EQ(layer_geometry_for(0, kFpr).shard_count, 1U);
  EXPECT_EQ(layer_geometry_for(0, kFpr).bytes(), 4'096U);
  EXPECT_EQ(layer_geometry_for(2'000, kFpr).shard_count, 1U);
}

TEST_F(LiveLayerTest, AnswersAbsentWhileNothingWasAdded) {
  publish_empty();
  SetReader reader = this->reader();
  const SetReader::Pin pin = reader.pin();
  ASSERT_TRUE(pin) << reader.reason();
  EXPECT_TRUE(pin->may_contain(hash("base1")));
  EXPECT_FALSE(pin->may_contain(hash("live1")));
  EXPECT_EQ(pin->layer().keys(), 0U);
}

TEST_F(LiveLayerTest, ShowsAnAddAtTheNextLookup) {
  publish_empty();
  SetReader reader = this->reader();
  Publisher publisher = this->publisher();
  std::optional<LayerWriter> writer = publisher.open_layer();
  ASSERT_TRUE(writer);
  EXPECT_FALSE(reader.pin()->may_contain(hash("live1")));
  EXPECT_TRUE(writer->add(hash("live1")));
  EXPECT_TRUE(reader.pin()->may_contain(hash("live1")));
  EXPECT_FALSE(reader.pin()->may_contain(hash("live2")));
}

TEST_F(LiveLayerTest, ShowsWhatItWasPublishedWith) {
  NewLayer layer(layer_geometry_for(1'000, kFpr), {});
  for (const std::string& key : numbered_keys("live", 1'000)) layer.add(hash(key));
  layer.advance(log_position(7, 8));
  publish_with(layer);
  SetReader reader = this->reader();
  const SetReader::Pin pin = reader.pin();
  for (const std::string& key : numbered_keys("live", 1'000)) EXPECT_TRUE(pin->may_contain(hash(key))) << key;
  EXPECT_EQ(pin->layer().keys(), layer.live_keys());
  Publisher publisher = this->publisher();
  EXPECT_EQ(publisher.open_layer()->position(), log_position(7, 8));
}

}  // namespace
}  // namespace keysieve
