// Bytes of a live publication that change: lookups answer maybe at once, and it is published again.
#include <filesystem>
#include <fstream>

#include "core/worker/shm/set_reader.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"

namespace keysieve::test {
namespace {

class SetRefresherDamage : public SetRefresherTest {
 protected:
  static constexpr KeyRange kManyKeys = first_keys(20'000);

  SetRefresherDamage() {
    site_.push("tags", kManyKeys);
    EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
    EXPECT_TRUE(reader_.follow());
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return site_.directory() + "/tags/" + name;
  }
  // As a stray write would do.
  static void zero(const std::string& path, std::uint64_t offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file << std::string(4096, '\0') << std::flush;
    ASSERT_TRUE(file.good());
  }
  void zero_a_shard() const {
    const std::string name = path(snapshot_file_name(1));
    zero(name, std::filesystem::file_size(name) - 8192);
  }
  int absent() {
    const Attachment* attached = reader_.follow();
    int absent = 0;
    for (int i = 0; attached && i < kManyKeys.count; ++i) {
      if (!attached->may_contain(attached->snapshot().hasher()(key_number(i)))) ++absent;
    }
    return absent;
  }

  SetReader reader_{{.directory = site_.directory(), .max_jitter = std::chrono::hours(1)}, "tags"};
};

TEST_F(SetRefresherDamage, IsFoundAndPublishedAgainFromTheCache) {
  zero_a_shard();
  EXPECT_GT(absent(), 100) << "a reader does not notice";
  site_.remove_store();
  EXPECT_EQ(trouble(), Trouble::StoreUnreachable);
  EXPECT_EQ(site_.live("tags")->id.publication, 2U);
  EXPECT_FALSE(site_.live("tags")->is_damaged);
  EXPECT_EQ(absent(), 0);
  EXPECT_EQ(reader_.availability(), Availability::Ready);
  EXPECT_EQ(reader_.attachment()->id().publication, 2U)
      << "from the damaged one it must not answer, late as it is";
}

TEST_F(SetRefresherDamage, BypassesTheSetUntilItCanBePublishedAgain) {
  zero_a_shard();
  std::filesystem::remove_all(site_.cache());
  std::filesystem::create_directory(site_.cache());
  std::filesystem::rename(site_.root() / "store", site_.root() / "away");
  site_.write("store", "not a folder");
  EXPECT_EQ(trouble(), Trouble::StoreUnreachable);
  EXPECT_FALSE(reader_.follow());
  EXPECT_EQ(reader_.availability(), Availability::Bypassed);
  EXPECT_EQ(reader_.reason(), "its bytes have changed since they were published");
  EXPECT_EQ(reader_.trouble(), ErrorKind::Data);

  start();
  EXPECT_EQ(trouble(), Trouble::StoreUnreachable);
  EXPECT_FALSE(reader_.follow()) << "a loader that begins again knows it too";

  std::filesystem::remove(site_.root() / "store");
  std::filesystem::rename(site_.root() / "away", site_.root() / "store");
  EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  EXPECT_TRUE(reader_.follow());
  EXPECT_EQ(absent(), 0);
}

// With a second level, a checksum covers less than 64 KiB: only whole shards.
TEST_F(SetRefresherDamage, OfASetWithKnownAbsentKeysIsFoundAndNothingElseIsTakenForIt) {
  site_.push(build_with_known_absent("tags", first_keys(60'000), {100'000, 60'000}));
  for (int i = 0; i < 3; ++i) ASSERT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  EXPECT_EQ(site_.live("tags")->id.publication, 2U);
  EXPECT_EQ(site_.live("tags")->known_absent, 60'000U);
  const std::string name = path(snapshot_file_name(2));
  zero(name, std::filesystem::file_size(name) - 8192);
  EXPECT_FALSE(site_.knows("tags", first_keys(60'000)));
  refresh();
  EXPECT_EQ(site_.live("tags")->id.publication, 3U);
  EXPECT_TRUE(site_.knows("tags", first_keys(60'000)));
}

TEST_F(SetRefresherDamage, OfTheTablesIsFoundToo) {
  zero(path(snapshot_file_name(1)), 4096);
  refresh();
  EXPECT_EQ(site_.live("tags")->id.publication, 2U);
  EXPECT_EQ(absent(), 0);
}

}  // namespace
}  // namespace keysieve::test
