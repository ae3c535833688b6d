// The live layer from both sides: an added key comes back as maybe together with the snapshot's, by every way
// of asking.
#include "tests/core/shm/live_layer.hpp"

#include <random>

#include "core/publisher/shm/new_pages.hpp"
#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/shm/live_file.hpp"
#include "tests/core/kind_ids.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::numbered_keys;

class LiveLayerTest : public test::LiveLayers {};

TEST_F(LiveLayerTest, HasAtLeastOneShard) {
  EXPECT_EQ(layer_geometry_for(0, kFpr).shard_count, 1U);
  EXPECT_EQ(layer_geometry_for(0, kFpr).bytes(), 4'096U);
  EXPECT_EQ(layer_geometry_for(3'000, kFpr).shard_count, 1U);
  EXPECT_EQ(layer_geometry_for(3'200, kFpr).shard_count, 2U);
}

TEST_F(LiveLayerTest, RefusesAnFprOutOfRange) {
  for (const double fpr : {0.0, 1.0, kMinLayerFpr / 2})
    EXPECT_EQ(test::failure_of([&] { layer_geometry_for(1'000, fpr); }), ErrorKind::Usage) << fpr;
  EXPECT_EQ(layer_geometry_for(1'000, kMinLayerFpr).shard_count, 2U);
  EXPECT_NO_THROW(layer_geometry_for(20'000'000, kMinLayerFpr));
}

TEST_F(LiveLayerTest, HoldsTheKeysItWasPublishedWithAndKeepsToTheFprItIsSizedFor) {
  constexpr int kLayerKeys = 50'000;
  NewLayer layer = empty_layer(kLayerKeys);
  const auto keys = numbered_keys("live", kLayerKeys);
  for (const std::string& key : keys) layer.add(hash(key));
  publish_with(layer);
  EXPECT_EQ(std::filesystem::file_size(file(live_file_name(1))), kPageBytes + layer.geometry().bytes());
  const Attachment& attached = attach();
  for (const std::string& key : keys) EXPECT_TRUE(attached.may_contain(hash(key))) << key;
  EXPECT_EQ(attached.layer().keys(), layer.live_keys());
  EXPECT_EQ(attached.layer().geometry(), layer.geometry());
  int maybe = 0;
  for (const std::string& key : numbered_keys("absent", 200'000)) {
    maybe += attached.layer().may_contain(hash(key)) ? 1 : 0;
  }
  const double measured = maybe / 200'000.0;
  EXPECT_LE(measured, kFpr * 1.05);
  EXPECT_NEAR(layer.fill().estimated_fpr, measured, 0.0007);  // three standard deviations
  EXPECT_EQ(layer_fill(attached.layer()).estimated_fpr, layer.fill().estimated_fpr);
  EXPECT_GE(layer.live_keys(), kLayerKeys * 99 / 100);  // the others were false positives
  EXPECT_LE(layer.live_keys(), kLayerKeys);
}

TEST_F(LiveLayerTest, IsThereOnlyIfItWasPublished) {
  EXPECT_FALSE(publisher().open_layer()) << "nothing is";
  publish_with({});
  EXPECT_EQ(std::filesystem::file_size(file(live_file_name(1))), kPageBytes);
  EXPECT_FALSE(publisher().open_layer());
  const Attachment& attached = attach();
  EXPECT_EQ(attached.layer().geometry().shard_count, 0U);
  EXPECT_EQ(attached.layer().keys(), 0U);
  EXPECT_EQ(layer_fill(attached.layer()).fill_ratio, 0.0);
  EXPECT_FALSE(attached.may_contain(hash("live1")));
}

TEST_F(LiveLayerTest, CountsAKeyOnce) {
  NewLayer layer = empty_layer();
  EXPECT_TRUE(layer.add(hash("live1")));
  EXPECT_FALSE(layer.add(hash("live1")));
  EXPECT_EQ(layer.live_keys(), 1U);
  publish_with(layer);
  LayerWriter writer = publisher().open_layer().value();
  EXPECT_FALSE(writer.add(hash("live1")));
  EXPECT_TRUE(writer.add(hash("live2")));
  EXPECT_FALSE(writer.add(hash("live2")));
  EXPECT_EQ(writer.live_keys(), 2U);
}

TEST_F(LiveLayerTest, GetsTheSameBitsBeforeAndAfterPublication) {
  NewLayer before = empty_layer(500);
  publish_with(before);
  LayerWriter after = publisher().open_layer().value();
  for (const std::string& key : numbered_keys("live", 500))
    EXPECT_EQ(before.add(hash(key)), after.add(hash(key)));
  std::ifstream stream(file(live_file_name(1)), std::ios::binary);
  const std::string written(std::istreambuf_iterator<char>(stream), {});
  EXPECT_TRUE(written.substr(kPageBytes) == as_text(before.bytes()));
  EXPECT_EQ(after.fill().fill_ratio, before.fill().fill_ratio);
}

// Its writer set the bits and was killed before it counted the key.
TEST_F(LiveLayerTest, ShowsAKeyWhoseBitsWereSetButNotCounted) {
  publish_with(empty_layer());
  {
    const SetFolder folder = SetFolder::open(directory_.path(), kSet, std::nullopt);
    const auto live =
        open_live_page<LivePage>(folder, live_file_name(1), {writable_control().page().instance, 1});
    set_layer_bits(lanes_of(live), layer_of(live).geometry(), hash("live1"));
  }
  SetReader reader = this->reader();
  EXPECT_FALSE(reader.follow()->may_contain(hash("live1")));
  publisher().open_layer()->add(hash("live1"));
  EXPECT_TRUE(reader.follow()->may_contain(hash("live1")));
  EXPECT_EQ(reader.follow()->layer().keys(), 1U);
}

TEST_F(LiveLayerTest, IsStillThereForALateReader) {
  publish_with(empty_layer());
  publisher().open_layer()->add(hash("live1"));
  SetReader reader = this->reader();
  const Attachment* late = reader.follow();
  for (int i = 0; i < 3; ++i) publish_with({});
  EXPECT_FALSE(std::filesystem::exists(file(live_file_name(1))));
  EXPECT_TRUE(late->may_contain(hash("live1")));
}

// A running worker asks the layer of the publication that is current, which the loader has filled before.
TEST_F(LiveLayerTest, IsAskedByARunningWorkerAsSoonAsItIsCurrent) {
  publish_with(empty_layer());
  SetReader running = this->reader();
  publisher().open_layer()->add(hash("live1"));
  EXPECT_TRUE(test::may_contain(running, "live1"));
  NewLayer layer = empty_layer();
  layer.add(hash("live1"));
  publish_with(layer);
  publisher().open_layer()->add(hash("live2"));
  EXPECT_TRUE(test::may_contain(running, "live2"));
  EXPECT_TRUE(test::may_contain(running, "live1"));
  EXPECT_EQ(test::publication_seen_by(running), 2U);
}

// All pages were written during publication, so a later store needs no more space.
TEST_F(LiveLayerTest, CanBeFilledInAFullFileSystem) {
  MOUNT_TMPFS_OR_SKIP("256k");
  publish_with(empty_layer(50'000));
  std::ofstream rest(directory_ / "rest");
  while (rest << std::string(1'024, 'x') << std::flush) continue;
  const auto keys = numbered_keys("live", 50'000);
  EXPECT_EQ(test::run_in_process([&] {
              LayerWriter writer = publisher().open_layer().value();
              for (const std::string& key : keys) writer.add(hash(key));
              return 0;
            }),
            0);
  const Attachment& attached = attach();
  for (const std::string& key : keys) EXPECT_TRUE(attached.may_contain(hash(key)));
}

TEST_F(LiveLayerTest, IsNotOpenedWhenItsFileIsGoneOrBehindASymbolicLink) {
  const auto failure = [this] {
    return test::failure_of([this] { static_cast<void>(publisher().open_layer()); });
  };
  publish_with(empty_layer());
  std::filesystem::rename(file(live_file_name(1)), directory_ / "elsewhere");
  EXPECT_EQ(failure(), ErrorKind::MissingInput);
  std::filesystem::create_symlink(directory_ / "elsewhere", file(live_file_name(1)));
  EXPECT_EQ(failure(), ErrorKind::MissingInput);
}

// For every kind of base, with and without added keys.
class LiveLayerOver : public LiveLayerTest, public ::testing::WithParamInterface<std::uint8_t> {};
INSTANTIATE_TEST_SUITE_P(Kinds, LiveLayerOver, test::every_kind_id(), test::name_of_kind);

TEST_P(LiveLayerOver, AnswersForABatchAsForSingleKeys) {
  publisher().publish(base(*find_filter_kind(GetParam())).get(), 1, empty_layer());
  const Attachment& attached = attach();
  std::vector<KeyHash> hashes;
  for (const char* prefix : {"base", "live", "absent"}) {
    for (const std::string& key : numbered_keys(prefix, 100)) hashes.push_back(hash(key));
  }
  std::mt19937 random(1);
  for (const bool has_live_keys : {false, true}) {
    if (has_live_keys) {
      LayerWriter writer = publisher().open_layer().value();
      for (const std::string& key : numbered_keys("live", 100)) writer.add(hash(key));
    }
    std::size_t maybe = 0;
    for (const std::size_t size : {0U, 1U, 20U, 31U, 32U, 33U, 64U, 65U, 300U}) {
      std::shuffle(hashes.begin(), hashes.end(), random);
      std::array<bool, 300> answers;
      answers.fill(size % 2 == 0);  // earlier contents must not matter
      attached.may_contain_many(std::span(hashes).first(size), answers.data());
      for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(answers[i], attached.may_contain(hashes[i]));
      maybe = static_cast<std::size_t>(std::count(answers.begin(), answers.begin() + 300, true));
    }
    EXPECT_GE(maybe, has_live_keys ? 200U : 100U);
    EXPECT_LT(maybe, has_live_keys ? 215U : 115U);
  }
}

// A live page and the layer behind it are trusted only if every number agrees with the file's size, and
// before any address is computed from them. The headers are made by an attacker who knows the format.
TEST(LivePageChecks, RefuseAHeaderThatLies) {
  constexpr PublicationId kId{.instance = 11, .publication = 12};
  constexpr LayerGeometry kLayer{.shard_count = 3};
  const auto refusal_of = [&](LayerGeometry claimed, std::uint32_t shard_bytes, const PublicationId& id) {
    LivePage page{};
    const auto bytes = new_live_page({.instance = kId.instance,
                                      .publication = kId.publication,
                                      .generation = 7,
                                      .published_at = 8,
                                      .layer = claimed,
                                      .seed = {10, 11},
                                      .live_keys = 9});
    std::memcpy(static_cast<void*>(&page), bytes.data(), bytes.size());
    page.layer_shard_bytes = shard_bytes;
    page.header_checksum = header_checksum(page);
    const std::uint64_t file_bytes = kPageBytes + (claimed.shard_count == 0 ? 0 : kLayer.bytes());
    return test::failure_of([&] { check_live_page(page, file_bytes, id, "file"); });
  };
  EXPECT_EQ(refusal_of(kLayer, kLayerShardBytes, kId), std::nullopt);
  for (const std::uint32_t count : {0U, 1U, 2U, 4U, UINT32_MAX})
    EXPECT_EQ(refusal_of({.shard_count = count}, kLayerShardBytes, kId), ErrorKind::Data) << count;
  for (const std::uint32_t bytes : {0U, 1U, 1'024U, 8'192U, UINT32_MAX})
    EXPECT_EQ(refusal_of(kLayer, bytes, kId), ErrorKind::Data) << bytes;
  for (const PublicationId& another : {PublicationId{kId.instance, 13}, PublicationId{10, kId.publication}})
    EXPECT_EQ(refusal_of(kLayer, kLayerShardBytes, another), ErrorKind::Data);
}

// The checksum does not cover the count, since it changes; without a layer no reader uses it.
TEST_F(LiveLayerTest, MayHaveAKeyCountThoughThereIsNone) {
  publish_with({});
  {
    const SetFolder folder = SetFolder::open(directory_.path(), kSet, std::nullopt);
    const PublicationId id{writable_control().page().instance, 1};
    open_live_page<LivePage>(folder, live_file_name(1), id).page().live_keys = 5;
  }
  const Attachment& attached = attach();
  EXPECT_EQ(attached.layer().keys(), 0U);
  EXPECT_FALSE(attached.may_contain(hash("live1")));
}

}  // namespace
}  // namespace keysieve
