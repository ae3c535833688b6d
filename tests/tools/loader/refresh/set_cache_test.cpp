#include "tools/loader/refresh/set_cache.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <tuple>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/mounts.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"
#include "tests/tools/loader/site.hpp"
#include "tools/loader/config/private_cache.hpp"
#include "tools/program/durable_file.hpp"

namespace keysieve::test {
namespace {

constexpr PublicKey kFirst{1, 2, 3};
constexpr PublicKey kSecond{4, 5, 6};

using Names = std::vector<std::string>;

class SetCacheTest : public ::testing::Test {
 protected:
  [[nodiscard]] Names file_names() const {
    Names names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // As the next process would find it.
  [[nodiscard]] std::optional<std::uint64_t> generation() const {
    const auto cached = SetCache(folder_.path(), "tags").find();
    return cached ? std::optional(cached->generation) : std::nullopt;
  }
  [[nodiscard]] SnapshotMoment newest(const PublicKeys& keys) const {
    SetCache cache(folder_.path(), "tags", keys);
    cache.read_seen();
    return cache.newest();
  }
  void write_state(const std::string& text) const { std::ofstream(folder_ / "tags.state") << text; }

  TemporaryDirectory folder_;
  SetCache cache_{folder_.path(), "tags"};
  SnapshotBytes tags_ = build_snapshot("tags", kKeys);
  SnapshotBytes other_ = build_snapshot("tags", first_keys(10));
};

TEST_F(SetCacheTest, KeepsOnlyTheLast) {
  for (const std::uint64_t generation : {9U, 10U, 1U}) {
    cache_.save(generation, tags_.get());
    EXPECT_EQ(this->generation(), generation);
  }
  EXPECT_EQ(file_names(), (Names{"tags.ks", "tags.state"}));
}

// As when the disk is full: each attempt names another generation, and writes no snapshot.
TEST_F(SetCacheTest, KnowsTheGenerationOfTheOldOneWhileNewOnesCannotBeSaved) {
  cache_.save(7, tags_.get());
  for (const unsigned generation : {8U, 9U, 1U}) {
    cache_.save(generation, other_.get());
    write_durable_file(cache_.path_of(), tags_.get());
    EXPECT_EQ(this->generation(), 7U);
  }
}

TEST_F(SetCacheTest, KnowsNoGenerationOfASnapshotThatItHasNotSaved) {
  write_durable_file(cache_.path_of(), tags_.get());
  EXPECT_EQ(generation(), std::nullopt);
  cache_.save(7, other_.get());
  write_durable_file(cache_.path_of(), tags_.get());
  EXPECT_EQ(generation(), std::nullopt);
  std::filesystem::remove(cache_.path_of());
  EXPECT_EQ(generation(), std::nullopt);
  cache_.save(8, tags_.get());
  EXPECT_EQ(generation(), 8U);
}

TEST_F(SetCacheTest, RefusesADamagedStateAndReplacesItWithAllThatItKnows) {
  cache_.save(7, tags_.get());
  cache_.has_seen({{5, 6}, {}});
  std::stringstream read;
  read << std::ifstream(folder_ / "tags.state").rdbuf();
  const std::string whole = read.str();
  std::vector<std::string> damaged{"x", whole + "x", whole.substr(0, 56), whole.substr(0, 60)};
  for (std::size_t i = 0; i < whole.size(); ++i) {
    damaged.push_back(whole);
    damaged.back()[i] ^= 1;
  }
  for (const std::string& text : damaged) {
    write_state(text);
    EXPECT_EQ(failure_of([&] { static_cast<void>(cache_.find()); }), ErrorKind::Data) << text.size();
    EXPECT_EQ(failure_of([&] { cache_.read_seen(); }), ErrorKind::Data) << text.size();
  }
  cache_.save(7, tags_.get());
  EXPECT_EQ(generation(), 7U);
  EXPECT_EQ(newest({}), (SnapshotMoment{5, 6}));
}

// As with too many open files: what cannot be read now would be forgotten.
TEST_F(SetCacheTest, ReplacesNoStateThatItCannotRead) {
  std::filesystem::create_symlink("elsewhere", folder_ / "tags.state");
  EXPECT_EQ(failure_of([&] { cache_.save(7, tags_.get()); }), ErrorKind::MissingInput);
  EXPECT_EQ(failure_of([&] { cache_.save_seen(); }), ErrorKind::MissingInput);
  EXPECT_EQ(file_names(), Names{"tags.state"});
}

TEST_F(SetCacheTest, TrustsNoFolderOrFileThatOthersMayWriteTo) {
  cache_.save(7, tags_.get());
  const auto failure = [&] { return failure_of([&] { std::ignore = cache_.load(); }); };
  const auto expect_refused = [&](const std::string& path, mode_t mode, mode_t after) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_EQ(failure(), ErrorKind::NotTrusted) << path << mode;
    ASSERT_EQ(::chmod(path.c_str(), after), 0);
    if (::geteuid() != 0) return;
    ASSERT_EQ(::chown(path.c_str(), 54'321, 0), 0);
    EXPECT_EQ(failure(), ErrorKind::NotTrusted) << path;
    ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  };
  for (const mode_t mode : {0770U, 0707U, 01777U}) expect_refused(folder_.path(), mode, 0700);
  for (const std::string& file : {cache_.path_of(), cache_.path_of(".state")}) {
    for (const mode_t mode : {0660U, 0606U}) expect_refused(file, mode, 0640);
  }
  EXPECT_TRUE(cache_.load());
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
  const Names before = file_names();
  EXPECT_EQ(failure_of([&] { cache_.save(8, other_.get()); }), ErrorKind::NotTrusted);
  EXPECT_EQ(failure_of([&] { cache_.save_seen(); }), ErrorKind::NotTrusted);
  EXPECT_EQ(file_names(), before);
}

TEST_F(SetCacheTest, RefusesASnapshotThatIsCutShortOfAnotherSetOrBehindALink) {
  const auto failure = [this] { return failure_of([&] { static_cast<void>(cache_.load()); }); };
  cache_.save(7, tags_.get());
  for (const std::uintmax_t size : {5000U, 0U}) {
    std::filesystem::resize_file(cache_.path_of(), size);
    EXPECT_EQ(failure(), ErrorKind::Data) << size;
  }
  cache_.save(8, build_snapshot("shop", kKeys).get());
  EXPECT_EQ(failure(), ErrorKind::Data);
  cache_.save(9, tags_.get());
  EXPECT_EQ(cache_.load()->generation, 9U);
  std::filesystem::rename(cache_.path_of(), folder_ / "elsewhere");
  std::filesystem::create_symlink(folder_ / "elsewhere", cache_.path_of());
  EXPECT_EQ(failure(), ErrorKind::MissingInput);
}

TEST_F(SetCacheTest, GivesNoSnapshotTheGenerationOfAnotherThatReplacesIt) {
  cache_.save(1, other_.get());
  std::atomic<bool> is_over{false};
  std::thread another_loader([&] {
    for (std::uint64_t generation = 2; !is_over; ++generation)
      cache_.save(generation, generation % 2 == 0 ? tags_.get() : other_.get());
  });
  int found = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto cached = SetCache(folder_.path(), "tags").load();
    if (!cached) continue;
    ++found;
    const auto keys = SnapshotView::decode(cached->bytes.get(), "test", Check::Tables).header().key_count;
    EXPECT_EQ(keys, cached->generation % 2 == 0 ? 1000U : 10U) << cached->generation;
  }
  is_over = true;
  another_loader.join();
  EXPECT_GT(found, 0);
}

TEST_F(SetCacheTest, IsPreparedWithoutWhatACrashLeftAndNothingElseIsRemoved) {
  for (const char* name : {".put-4711", ".put-1", ".put-"}) {
    std::ofstream(folder_ / name) << "a half";
  }
  const Names others{".put-x", "passwd", "put-1", "tags.adds", "tags.ks.put-1"};
  for (const std::string& name : others) std::ofstream(folder_ / name) << "something";
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
  prepare_cache(folder_.path());
  EXPECT_EQ(file_names().size(), 8U) << "the folder is not trusted";
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0700), 0);
  prepare_cache(folder_.path());
  EXPECT_EQ(file_names(), others);
}

TEST_F(SetCacheTest, KeepsTheNewestMomentsOfTheSignersThatCount) {
  EXPECT_EQ(newest({}), SnapshotMoment{});
  SetCache cache(folder_.path(), "tags", {kFirst, kSecond});
  EXPECT_TRUE(cache.has_seen({{1'700'000'000, 60}, kFirst}));
  EXPECT_FALSE(cache.has_seen({{1'700'000'000, 59}, kFirst}));
  EXPECT_TRUE(cache.has_seen({{1'700'000'000, 61}, kSecond}));
  cache.save_seen();
  cache_.has_seen({{1'700'000'009, 0}, {}});
  cache_.save_seen();
  EXPECT_EQ(newest({kFirst}), (SnapshotMoment{1'700'000'000, 60}));
  EXPECT_EQ(newest({kFirst, kSecond}), (SnapshotMoment{1'700'000'000, 61}));
  EXPECT_EQ(newest({}), (SnapshotMoment{1'700'000'009, 0})) << "a record, which is not signed";
  EXPECT_EQ(newest({PublicKey{7}}), SnapshotMoment{});
  cache_.save(7, tags_.get());
  EXPECT_EQ(newest({kSecond}), (SnapshotMoment{1'700'000'000, 61}));
}

// A newer one may go live all the same, and a reboot must remember it, also of a key that has signed nothing
// yet.
TEST_F(SetCacheTest, KeepsTheNewestMomentsWhereThereIsNoRoom) {
  const MountedTmpfs mounted(folder_.path(), "32k");
  if (!mounted.is_there()) GTEST_SKIP() << "this user may not mount";
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  SetCache cache(folder_.path(), "tags", {kFirst, kSecond});
  cache.save(7, tags_.get());
  {
    std::ofstream filler(folder_ / "filler");
    while (filler << std::string(4096, 'x') << std::flush) {
    }
  }
  ASSERT_THROW(write_durable_file(folder_ / "another", as_bytes("x")), Error);
  cache.has_seen({{1'700'000'001, 61}, kSecond});
  cache.save_seen();
  EXPECT_EQ(newest({kSecond}), (SnapshotMoment{1'700'000'001, 61}));
  EXPECT_EQ(generation(), 7U);
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

// Another process has changed what is live, and this one does not read it again so soon.
TEST_F(SetRefresherTest, SavesNothingDamaged) {
  std::filesystem::permissions(site_.cache(), std::filesystem::perms(0777));
  go_live();
  const std::string live = site_.directory() + "/tags/" + snapshot_file_name(1);
  std::filesystem::permissions(live, std::filesystem::perms(0640));
  std::fstream(live, std::ios::in | std::ios::out | std::ios::binary).seekp(-100, std::ios::end) << "damage";
  std::filesystem::permissions(site_.cache(), std::filesystem::perms(0755));
  refresher_->try_again_now();
  refresher_->refresh(now_ + Milliseconds(1));
  EXPECT_FALSE(std::filesystem::exists(site_.cache() + "/tags.ks"));
  EXPECT_EQ(trouble(), Trouble::None) << "found by now";
  EXPECT_TRUE(std::filesystem::exists(site_.cache() + "/tags.ks"));
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
