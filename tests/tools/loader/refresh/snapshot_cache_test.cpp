#include "tools/loader/refresh/snapshot_cache.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/mounts.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"
#include "tests/tools/loader/site.hpp"
#include "tools/program/durable_file.hpp"
#include "tools/status/set_facts.hpp"

namespace keysieve::test {
namespace {

class SnapshotCacheTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> file_names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  [[nodiscard]] std::optional<std::uint64_t> generation_of(const std::string& set_name) const {
    const auto cached = cache_.find(set_name);
    return cached ? std::optional(cached->generation) : std::nullopt;
  }

  TemporaryDirectory folder_;
  SnapshotCache cache_{folder_.path()};
  SnapshotBytes tags_ = build_snapshot("tags", kKeys);
};

using Names = std::vector<std::string>;

TEST_F(SnapshotCacheTest, KeepsOnlyTheLastOfEachSet) {
  const SnapshotBytes shop = build_snapshot("tags-2", first_keys(10));
  cache_.save("tags-2", 3, shop.get());
  for (const std::uint64_t generation : {9U, 10U, 1U}) {
    cache_.save("tags", generation, tags_.get());
    EXPECT_EQ(generation_of("tags"), generation);
  }
  EXPECT_EQ(file_names(), (Names{"tags-2.generation", "tags-2.ks", "tags.generation", "tags.ks"}));
  EXPECT_EQ(generation_of("tags-2"), 3U);
}

// As when the disk is full: each attempt names another generation, and writes no snapshot.
TEST_F(SnapshotCacheTest, KnowsTheGenerationOfTheOldOneWhileNewOnesCannotBeSaved) {
  cache_.save("tags", 7, tags_.get());
  const SnapshotBytes kept = cache_.load("tags");
  for (const unsigned generation : {8U, 9U, 1U}) {
    cache_.save("tags", generation, build_snapshot("tags", first_keys(10)).get());
    write_durable_file(folder_ / "tags.ks", kept.get());
    EXPECT_EQ(generation_of("tags"), 7U);
  }
}

TEST_F(SnapshotCacheTest, KnowsNoGenerationOfASnapshotThatItHasNotSaved) {
  write_durable_file(folder_ / "tags.ks", tags_.get());
  EXPECT_EQ(cache_.find("tags"), std::nullopt);
  cache_.save("tags", 7, build_snapshot("tags", first_keys(10)).get());
  write_durable_file(folder_ / "tags.ks", tags_.get());
  EXPECT_EQ(cache_.find("tags"), std::nullopt);
  std::filesystem::remove(folder_ / "tags.ks");
  EXPECT_EQ(cache_.find("tags"), std::nullopt);
  cache_.save("tags", 8, tags_.get());
  EXPECT_EQ(generation_of("tags"), 8U);
}

TEST_F(SnapshotCacheTest, RefusesADamagedGenerationAndReplacesIt) {
  for (const std::string text : {"7", "7\n", "7 \n", "7 12\n", "x\n", "\n", "99999999999999999999 00\n"}) {
    std::ofstream(folder_ / "tags.generation") << text;
    EXPECT_EQ(failure_of([&] { static_cast<void>(cache_.find("tags")); }), ErrorKind::Data) << text;
  }
  cache_.save("tags", 7, tags_.get());
  EXPECT_EQ(generation_of("tags"), 7U);
}

TEST_F(SnapshotCacheTest, TrustsNoFolderOrFileThatOthersMayWriteTo) {
  cache_.save("tags", 7, tags_.get());
  const std::string file = folder_ / "tags.ks";
  const auto refusal_of_mode = [&](const std::string& path, mode_t mode, mode_t after) {
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    const std::string message = message_of<ErrorKind::NotTrusted>([&] {
      static_cast<void>(cache_.find("tags"));
      static_cast<void>(cache_.load("tags"));
    });
    EXPECT_EQ(::chmod(path.c_str(), after), 0);
    return message;
  };
  for (const mode_t mode : {0770U, 0707U, 01777U}) {
    EXPECT_EQ(refusal_of_mode(folder_.path(), mode, 0700),
              "cache " + folder_.path() + ": not trusted: its group or others may write to it");
  }
  for (const mode_t mode : {0660U, 0606U}) {
    EXPECT_EQ(refusal_of_mode(file, mode, 0640), file + ": not trusted: its group or others may write to it");
  }
  EXPECT_NO_THROW(static_cast<void>(cache_.load("tags")));
}

TEST_F(SnapshotCacheTest, TrustsNoFolderOrFileOfAForeignOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
  cache_.save("tags", 7, tags_.get());
  const std::string file = folder_ / "tags.ks";
  ASSERT_EQ(::chown(file.c_str(), 54'321, 0), 0);
  EXPECT_EQ(message_of<ErrorKind::NotTrusted>([&] { static_cast<void>(cache_.load("tags")); }),
            file + ": not trusted: it belongs to uid 54321");
  ASSERT_EQ(::chown(folder_.path().c_str(), 54'321, 0), 0);
  EXPECT_EQ(message_of<ErrorKind::NotTrusted>([&] { static_cast<void>(cache_.find("tags")); }),
            "cache " + folder_.path() + ": not trusted: it belongs to uid 54321");
}

TEST_F(SnapshotCacheTest, LeavesNothingInAFolderThatOthersMayWriteTo) {
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
  for (const std::uint64_t generation : {7U, 8U}) {
    EXPECT_EQ(failure_of([&] { cache_.save("tags", generation, tags_.get()); }), ErrorKind::NotTrusted);
    EXPECT_EQ(failure_of([&] { cache_.save_newest_as_of("tags", 1'700'000'000); }), ErrorKind::NotTrusted);
  }
  EXPECT_EQ(file_names(), Names{});
}

TEST_F(SnapshotCacheTest, RefusesATruncatedOrEmptySnapshot) {
  cache_.save("tags", 7, tags_.get());
  for (const std::uintmax_t size : {std::uintmax_t{5000}, std::uintmax_t{100}, std::uintmax_t{0}}) {
    std::filesystem::resize_file(folder_ / "tags.ks", size);
    EXPECT_EQ(failure_of([&] { static_cast<void>(cache_.load("tags")); }), ErrorKind::Data) << size;
  }
}

TEST_F(SnapshotCacheTest, RefusesTheSnapshotOfAnotherSet) {
  cache_.save("shop", 7, tags_.get());
  const auto message = message_of<ErrorKind::Data>([&] { static_cast<void>(cache_.load("shop")); });
  EXPECT_NE(message.find("shop.ks holds set \"tags\", not \"shop\""), std::string::npos) << message;
}

TEST_F(SnapshotCacheTest, DoesNotFollowASymbolicLink) {
  cache_.save("tags", 7, tags_.get());
  std::filesystem::rename(folder_ / "tags.ks", folder_ / "elsewhere");
  std::filesystem::create_symlink(folder_ / "elsewhere", folder_ / "tags.ks");
  EXPECT_EQ(failure_of([&] { static_cast<void>(cache_.load("tags")); }), ErrorKind::MissingInput);
}

TEST_F(SnapshotCacheTest, NamesTheFolderThatIsMissing) {
  const SnapshotCache nowhere(folder_ / "nowhere");
  const auto reading = message_of<ErrorKind::MissingInput>([&] { static_cast<void>(nowhere.find("tags")); });
  EXPECT_NE(reading.find(folder_ / "nowhere"), std::string::npos);
  const auto writing = message_of<ErrorKind::CannotCreate>([&] { nowhere.save("tags", 1, tags_.get()); });
  EXPECT_NE(writing.find("No such file or directory"), std::string::npos) << writing;
}

TEST_F(SnapshotCacheTest, KeepsTheNewestMomentOfASet) {
  EXPECT_EQ(cache_.newest_as_of("tags"), 0);
  cache_.save_newest_as_of("tags", 1'700'000'000);
  cache_.save_newest_as_of("shop", 5);
  EXPECT_EQ(SnapshotCache(folder_.path()).newest_as_of("tags"), 1'700'000'000);
  EXPECT_EQ(cache_.find("tags"), std::nullopt);
  for (const char* text : {"", "soon", "12", "12\n\n", "99999999999999999999\n"}) {
    std::ofstream(folder_ / "tags.newest") << text;
    EXPECT_EQ(failure_of([&] { static_cast<void>(cache_.newest_as_of("tags")); }), ErrorKind::Data) << text;
  }
}

TEST_F(SnapshotCacheTest, KeepsTheNewestSignedMomentOfASet) {
  EXPECT_TRUE(cache_.newest_signed("tags").empty());
  const std::vector<NewestSigned> newest{{{1'700'000'000, 1'700'000'060}, {1, 2, 3}},
                                         {{1'700'000'001, 1'700'000'002}, {4, 5, 6}}};
  cache_.save_newest_signed("tags", newest);
  EXPECT_EQ(SnapshotCache(folder_.path()).newest_signed("tags"), newest);
  EXPECT_EQ(cache_.find("tags"), std::nullopt);
  EXPECT_EQ(cache_.newest_as_of("tags"), 0);
  for (const char* text : {"", "1\n", "1 2\n", "1 2 \n", "1 2 abc\n", "99999999999999999999 1 \n"}) {
    std::ofstream(folder_ / "tags.signed") << text;
    EXPECT_EQ(failure_of([&] { static_cast<void>(cache_.newest_signed("tags")); }), ErrorKind::Data) << text;
  }
}

// A newer one may go live all the same, and a reboot must remember it.
TEST_F(SnapshotCacheTest, KeepsTheNewestSignedMomentWhereThereIsNoRoom) {
  const MountedTmpfs mounted(folder_.path(), "16k");
  if (!mounted.is_there()) GTEST_SKIP() << "this user may not mount";
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  cache_.save_newest_signed("tags", {{{}, {1, 2, 3}}});
  {
    std::ofstream filler(folder_ / "filler");
    while (filler << std::string(4096, 'x') << std::flush) {
    }
  }
  ASSERT_THROW(cache_.save_newest_as_of("tags", 1'700'000'000), Error);
  const std::vector<NewestSigned> newest{{{1'700'000'001, 1'700'000'061}, {1, 2, 3}}};
  cache_.save_newest_signed("tags", newest);
  EXPECT_EQ(SnapshotCache(folder_.path()).newest_signed("tags"), newest);
}

// Saved, but not published: the directory is full.
TEST_F(SetRefresherTest, PublishesASavedSnapshotWithoutPullingItAgain) {
  loader_.max_total_bytes = 65536;
  start();
  go_live();
  const SnapshotRecord large = site_.push("tags", first_keys(80000));
  EXPECT_EQ(refresh().exit_status, 73);
  EXPECT_EQ(refresher_->outcome().live->generation, 1U);
  site_.damage("tags", large);
  EXPECT_EQ(trouble(), Trouble::CannotPublish);
  loader_.max_total_bytes = 0;
  start();
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_TRUE(site_.knows("tags", first_keys(80000)));
}

// As at a reboot with the store unreachable, after the configuration was tightened.
TEST_F(SetRefresherTest, PublishesNothingFromTheCacheThatIsNotAllowedAnyMore) {
  struct Case {
    const char* name;
    Guards guards;
    std::uint64_t max_bytes;
  };
  const std::vector<Case> cases{{"min_keys", {.min_keys = 2000}, 0},
                                {"max_fpr", {.max_fpr = 1e-12}, 0},
                                {"required_keys", {.required_keys = {"no such key"}}, 0},
                                {"max_size", {}, 4096}};
  go_live();
  site_.wipe_shared_memory();
  site_.remove_store();
  for (const Case& tightened : cases) {
    set_.guards = tightened.guards;
    set_.max_bytes = tightened.max_bytes;
    start();
    EXPECT_EQ(trouble(), Trouble::StoreUnreachable) << tightened.name;
    EXPECT_EQ(site_.live("tags"), std::nullopt) << tightened.name;
  }
  set_.guards = {};
  set_.max_bytes = 0;
  start();
  refresh();
  EXPECT_EQ(site_.live_generation("tags"), 1U);
}

TEST_F(SetRefresherTest, PublishesNothingFromACacheThatOthersMayWriteTo) {
  site_.push("tags", kKeys);
  site_.add("tags", kAdded);
  refresh();
  site_.wipe_shared_memory();
  site_.remove_store();
  std::filesystem::permissions(site_.cache(), std::filesystem::perms(0777));
  start();
  EXPECT_EQ(trouble(), Trouble::StoreUnreachable);
  EXPECT_EQ(site_.live("tags"), std::nullopt);
  std::filesystem::permissions(site_.cache(), std::filesystem::perms(0755));
  start();
  refresh();
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  EXPECT_TRUE(site_.knows("tags", kKeys));
  EXPECT_TRUE(site_.knows("tags", kAdded));
}

// Not trusted, so nothing is saved there: as when it is full, or of the wrong owner.
TEST_F(SetRefresherTest, SavesWhatIsLiveOnceTheCacheCanBeWrittenAgain) {
  go_live();
  for (const bool is_restarted : {false, true}) {
    std::filesystem::permissions(site_.cache(), std::filesystem::perms(0777));
    site_.push("tags", kKeys);
    EXPECT_EQ(trouble(), Trouble::None);
    std::filesystem::permissions(site_.cache(), std::filesystem::perms(0755));
    if (is_restarted) start();
    EXPECT_EQ(trouble(), Trouble::None);
    const auto generation = site_.live_generation("tags");
    site_.wipe_shared_memory();
    std::filesystem::rename(site_.root() / "store", site_.root() / "away");
    start();
    refresh();
    EXPECT_EQ(site_.live_generation("tags"), generation);
    std::filesystem::rename(site_.root() / "away", site_.root() / "store");
  }
}

// In the report, and in shared memory for `keysieve status`. The set is current all the same.
TEST_F(SetRefresherTest, ReportsACacheThatCannotBeWrittenUntilItCan) {
  const auto in_shared_memory = [&] {
    SetReader reader = status_reader(site_.directory(), "tags");
    reader.follow();
    return Troubles(reader.control()->troubles.load()).names();
  };
  go_live();
  EXPECT_TRUE(recorder_.report().troubles().has(Trouble::None));
  std::filesystem::permissions(site_.cache(), std::filesystem::perms(0777));
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(recorder_.report().cache_trouble, "") << "a reboot would find what is live";
  for (int push = 0; push < 2; ++push) {
    site_.push("tags", kKeys);
    EXPECT_EQ(refresh().exit_status, 0);
    EXPECT_THAT(recorder_.report().cache_trouble, ::testing::HasSubstr("may write to it"));
    EXPECT_EQ(in_shared_memory(), std::vector<std::string_view>{"not_cached"});
  }
  std::filesystem::rename(site_.root() / "store", site_.root() / "away");
  EXPECT_EQ(trouble(), Trouble::NeverPushed);
  EXPECT_EQ(in_shared_memory(), (std::vector<std::string_view>{"not_pushed", "not_cached"}));
  std::filesystem::rename(site_.root() / "away", site_.root() / "store");
  std::filesystem::permissions(site_.cache(), std::filesystem::perms(0755));
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(recorder_.report().cache_trouble, "");
  EXPECT_EQ(in_shared_memory(), std::vector<std::string_view>{});
}

TEST_F(SetRefresherTest, RefusesASavedSnapshotThatIsTooLargeNow) {
  loader_.max_total_bytes = 65536;
  start();
  site_.push("tags", first_keys(80000));
  EXPECT_EQ(trouble(), Trouble::CannotPublish);  // but saved
  loader_.max_total_bytes = 0;
  set_.max_bytes = 65536;
  start();
  EXPECT_EQ(trouble(), Trouble::Refused);
  EXPECT_EQ(site_.live("tags"), std::nullopt);
}

// What the newer one holds is in the mirror alone, should the older be published again.
TEST_F(SetRefresherTest, KeepsTheAddsThatAnOlderSnapshotInTheCacheNeeds) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can mount a small tmpfs";
  const MountedTmpfs small(site_.cache(), "64k");
  if (small.error() == EPERM) GTEST_SKIP() << "this root may not mount";
  ASSERT_EQ(small.error(), 0);
  std::filesystem::permissions(site_.cache(), std::filesystem::perms(0755));  // of a tmpfs: everybody's
  go_live();
  site_.add("tags", {2000, 10});
  refresh();
  for (int push = 0; push < 3; ++push) {  // the last takes the first, and its adds, out of the store
    site_.push_after_adds("tags", first_keys(80000));  // too large to be saved
    EXPECT_EQ(trouble(), Trouble::None);
  }
  ASSERT_EQ(site_.live_generation("tags"), 4U);
  site_.wipe_shared_memory();
  site_.remove_store();
  start();
  EXPECT_EQ(trouble(), Trouble::StoreUnreachable);
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  EXPECT_TRUE(site_.knows("tags", {2000, 10}));
}

}  // namespace
}  // namespace keysieve::test
