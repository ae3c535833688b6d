// A live page and the layer behind it are trusted only if every number agrees with the file's size, and
// before any address is computed from them.
#include "core/publisher/shm/writable_pages.hpp"
#include "core/worker/shm/live_file.hpp"

#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"
#include "tests/core/shm/live_layer.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::change_byte;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr PublicationId kId{.instance = 11, .publication = 12};
constexpr LayerGeometry kLayer{.shard_count = 3};

class LivePageTest : public test::LiveLayers {
 protected:
  LivePageTest() {
    const auto bytes = new_live_page({.instance = kId.instance,
                                      .publication = kId.publication,
                                      .generation = 7,
                                      .published_at = 8,
                                      .layer = kLayer,
                                      .seed = {10, 11},
                                      .live_keys = 9});
    std::memcpy(static_cast<void*>(&page_), bytes.data(), bytes.size());
  }

  // A header made by an attacker who knows the format.
  template <typename Change>
  static void rewrite_header(LivePage& page, Change change) {
    change(page);
    page.header_checksum =
        checksum(Bytes(reinterpret_cast<const std::byte*>(&page), offsetof(LivePage, header_checksum)));
  }
  void check(std::uint64_t file_bytes) const { check_live_page(page_, file_bytes, kId, "file"); }
  void expect_refused(std::uint64_t file_bytes, const std::string& reason) const {
    EXPECT_THAT([&] { check(file_bytes); },
                test::fails(ErrorKind::Data, AllOf(HasSubstr("file: "), HasSubstr(reason))));
  }

  LivePage page_{};
};

TEST_F(LivePageTest, HoldsTheValuesItWasMadeFrom) {
  EXPECT_NO_THROW(check(kPageBytes + kLayer.bytes()));
  EXPECT_EQ(page_.generation, 7U);
  EXPECT_EQ(page_.published_at, 8);
  EXPECT_EQ(page_.seed, (HashSeed{10, 11}));
  EXPECT_EQ(page_.layer_shard_count, 3U);
  EXPECT_EQ(page_.layer_shard_bytes, 4'096U);
  EXPECT_EQ(page_.live_keys, 9U);
}

TEST_F(LivePageTest, IsRefusedWhenAnyByteOfItsHeaderIsWrong) {
  for (std::size_t at = 0; at < offsetof(LivePage, header_checksum) + sizeof(std::uint64_t); ++at) {
    auto* bytes = reinterpret_cast<std::byte*>(&page_);
    bytes[at] ^= std::byte{1};
    EXPECT_THAT([&] { check(kPageBytes + kLayer.bytes()); }, test::fails(ErrorKind::Data)) << at;
    bytes[at] ^= std::byte{1};
  }
  EXPECT_NO_THROW(check(kPageBytes + kLayer.bytes()));
}

TEST_F(LivePageTest, IsRefusedWhenTheFileSizeDoesNotFitTheLayer) {
  const std::uint64_t right = kPageBytes + kLayer.bytes();
  for (const std::uint64_t size : {kPageBytes, kPageBytes + 4'096, right - 1}) {
    expect_refused(size,
                   "is cut short: " + std::to_string(size) + " bytes instead of " + std::to_string(right));
  }
  for (const std::uint64_t size : {right + 1, right + 4'096}) {
    expect_refused(size,
                   "is too long: " + std::to_string(size) + " bytes instead of " + std::to_string(right));
  }
}

TEST_F(LivePageTest, IsRefusedWhenItClaimsMoreOrFewerShards) {
  for (const std::uint32_t count : {1U, 2U, 4U, UINT32_MAX}) {
    rewrite_header(page_, [&](LivePage& page) { page.layer_shard_count = count; });
    expect_refused(kPageBytes + kLayer.bytes(), count < 3 ? "is too long" : "is cut short");
  }
}

TEST_F(LivePageTest, IsRefusedWhenItsShardsHaveAnotherSize) {
  for (const std::uint32_t bytes : {0U, 1U, 1'024U, 8'192U, UINT32_MAX}) {
    rewrite_header(page_, [&](LivePage& page) { page.layer_shard_bytes = bytes; });
    expect_refused(kPageBytes + kLayer.bytes(), "3 shards of " + std::to_string(bytes) + " bytes");
  }
  rewrite_header(page_, [](LivePage& page) {
    page.layer_shard_count = 0;
    page.layer_shard_bytes = kLayerShardBytes;
  });
  expect_refused(kPageBytes, "0 shards of 4096 bytes");
}

TEST_F(LivePageTest, IsRefusedByReaderAndWriterWhenTheFileWasCutShortOrGrew) {
  publish_with(empty_layer(10'000));
  const std::string live = file(live_file_name(1));
  const auto size = std::filesystem::file_size(live);
  std::filesystem::copy_file(live, directory_ / "whole");
  for (const auto wrong : {std::uintmax_t{0}, std::uintmax_t{4'095}, std::uintmax_t{4'096}, size - 4'096,
                           size - 1, size + 1, size + 4'096}) {
    std::filesystem::resize_file(live, wrong);
    SetReader reader = this->reader();
    EXPECT_FALSE(reader.follow()) << wrong;
    EXPECT_THAT(reader.reason(),
                AllOf(HasSubstr(live), AnyOf(HasSubstr("cut short"), HasSubstr("too long"))));
    EXPECT_THAT([&] { static_cast<void>(publisher().open_layer()); }, test::fails(ErrorKind::Data)) << wrong;
    std::filesystem::copy_file(directory_ / "whole", live, std::filesystem::copy_options::overwrite_existing);
  }
  SetReader reader = this->reader();
  EXPECT_TRUE(reader.follow()) << reader.reason();
}

TEST_F(LivePageTest, IsRefusedWhenItBelongsToAnotherPublication) {
  for (const PublicationId& another : {PublicationId{kId.instance, 13}, PublicationId{10, kId.publication}}) {
    EXPECT_THAT([&] { check_live_page(page_, kPageBytes + kLayer.bytes(), another, "file"); },
                test::fails(ErrorKind::Data));
  }
}

// The checksum does not cover the count, since it changes; without a layer no reader uses it.
TEST_F(LivePageTest, MayHaveAKeyCountWithoutALayer) {
  publish_with({});
  {
    const SetFolder folder = SetFolder::open(directory_.path(), kSet, std::nullopt);
    const PublicationId id{writable_control().page().instance, 1};
    WritableLiveFile(folder, live_file_name(1), id).writable_page().live_keys = 5;
  }
  const Attachment& attached = attach();
  EXPECT_EQ(attached.layer().keys(), 0U);
  EXPECT_FALSE(attached.may_contain(hash("live1")));
}

TEST_F(LivePageTest, KeepsTheOldPublicationWhenANewLayerIsDamaged) {
  publish_with(empty_layer());
  SetReader reader = this->reader();
  EXPECT_TRUE(reader.follow());
  publish_with(empty_layer());
  change_byte(file(live_file_name(2)), offsetof(LivePage, layer_shard_count));
  EXPECT_EQ(test::publication_seen_by(reader), 1U);
  EXPECT_THAT(reader.reason(), HasSubstr("live page is damaged"));
}

}  // namespace
}  // namespace keysieve
