#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/builder/base/log_positions.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/mounts.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"
#include "tools/loader/adds/adds_mirror.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve::test {
namespace {

// This process opens nothing as long as it lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

class SetRefresherAdds : public SetRefresherTest {
 protected:
  [[nodiscard]] std::string log_path() const { return site_.root() / "store/.log-keysieve:tags:adds"; }
  [[nodiscard]] std::string mirror_path() const { return site_.cache() + "/tags.adds"; }
  [[nodiscard]] std::uint64_t publication() const { return site_.live("tags")->id.publication; }
  [[nodiscard]] std::uint64_t mirrored() const {
    AddsMirror mirror(mirror_path());
    mirror.load();
    return mirror.count_after({});
  }
  void move_store_away() const {
    std::filesystem::rename(site_.root() / "store", site_.root() / "away");
    site_.write("store", "not a folder");
  }
  void bring_store_back() const {
    std::filesystem::remove(site_.root() / "store");
    std::filesystem::rename(site_.root() / "away", site_.root() / "store");
  }
  // Looks until there is nothing more to do.
  const RefreshOutcome& refresh_all() {
    do refresh();
    while (refresher_->has_more());
    return refresher_->outcome();
  }
};

// A set without adds costs one call for the records and one for the log; adds that a watch has named cost
// one.
TEST_F(SetRefresherAdds, CostTwoCallsALookAndOneWithoutALook) {
  go_live();
  for (const KeyRange keys : {kAdded, kAddedLater}) {
    events_.calls = 0;
    refresh();
    EXPECT_EQ(events_.calls, 2);
    site_.add("tags", keys);
    events_.calls = 0;
    EXPECT_TRUE(refresher_->take_adds(now_, Changed::Adds));
    EXPECT_EQ(events_.calls, 1);
    EXPECT_TRUE(site_.knows("tags", keys));
    EXPECT_EQ(report().adds_kept, mirrored());
  }
}

TEST_F(SetRefresherAdds, AreLostAsAPushHasFoundThoughTheLogCannotBeReadToItsEnd) {
  go_live();
  site_.add("tags", kAdded);
  site_.push("tags", kMoreKeys);
  refresh();
  const auto store = open_store(site_.store_url());
  PointerRecord pointer = read_stored_pointer(*store, "tags").value();
  const LogPosition lost_to = log_position(static_cast<std::uint64_t>(unix_now_ms()), 0);
  pointer.adds_log.lost_to = lost_to;
  put(*store, "keysieve:tags:current", encode(pointer));
  int reads = 0;
  events_.before_log = [&reads] {
    if (++reads == 2) throw Error(ErrorKind::Unavailable, "gone");  // with what the push knew
  };
  EXPECT_NE(trouble(), Trouble::None);
  EXPECT_EQ(reads, 2);
  AddsMirror mirror(mirror_path());
  mirror.load();
  EXPECT_EQ(mirror.known_log().witness.lost_to, lost_to);
}

TEST_F(SetRefresherAdds, AreTakenWithoutALookUntilTheLayerIsFull) {
  go_live();
  const std::uint64_t before = publication();
  int first = 100'000;
  do site_.add("tags", {first += 200, 200});
  while (refresher_->take_adds(now_, Changed::Adds));
  EXPECT_EQ(publication(), before);
  refresh();
  EXPECT_EQ(publication(), before + 1);
  EXPECT_TRUE(site_.knows("tags", {100'200, first - 100'000}));
}

TEST_F(SetRefresherAdds, HasWhatWasAddedInAPublicationFromItsBeginning) {
  go_live();
  site_.add("tags", added_keys(100));
  refresh();
  site_.push("tags", kMoreKeys);
  // The publication is made in between; what follows it cannot read the log any more.
  int reads = 0;
  events_.before_log = [&] {
    if (site_.live_generation("tags") == 2) throw Error(ErrorKind::Unavailable, "gone");
    ++reads;
  };
  EXPECT_EQ(trouble(), Trouble::StoreUnreachable);
  EXPECT_EQ(reads, 2) << "for what is new, and for what the push knew";
  EXPECT_EQ(site_.live_generation("tags"), 2U);
  EXPECT_TRUE(site_.knows("tags", added_keys(100)));
}

// Otherwise what was received would be absent: not at once, but with the store.
TEST_F(SetRefresherAdds, PublishesNothingFromTheCacheWhenTheMirrorIsDamaged) {
  go_live();
  site_.add("tags", added_keys(500));
  refresh();
  site_.wipe_shared_memory();
  {
    std::fstream file(mirror_path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file.put('!');
  }
  move_store_away();
  start();
  EXPECT_EQ(trouble(), Trouble::StoreUnreachable);
  EXPECT_EQ(site_.live("tags"), std::nullopt);
  bring_store_back();
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_TRUE(site_.knows("tags", added_keys(500)));
  EXPECT_EQ(mirrored(), 500U);
}

// They were added while no loader ran, and are in the generation that was live until the reboot.
TEST_F(SetRefresherAdds, AreWholeForTheOlderGenerationOfACacheThatIsFull) {
  const MountedTmpfs cache(site_.cache(), "128k");
  if (!cache.is_there()) GTEST_SKIP() << "may not mount";
  std::filesystem::permissions(site_.cache(), std::filesystem::perms::owner_all);
  go_live();
  site_.add("tags", added_keys(100));
  site_.push_after_adds("tags", kMoreKeys);
  start();
  const auto free = std::filesystem::space(site_.cache()).free;
  std::ofstream(site_.cache() + "/rest") << std::string(free - (12U << 10), '.');  // for the adds
  refresh();
  EXPECT_EQ(site_.live_generation("tags"), 2U);
  site_.wipe_shared_memory();
  move_store_away();
  start();
  EXPECT_EQ(trouble(), Trouble::StoreUnreachable);
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  EXPECT_TRUE(site_.knows("tags", added_keys(100)));
}

// They are not trusted until that is fixed, and they are not lost either. Then they are tried again after a
// wait: at each look they would be read in vain.
TEST_F(SetRefresherAdds, PublishesNothingFromTheCacheWhileOthersMayWriteToItOrToTheMirror) {
  go_live();
  site_.add("tags", added_keys(500));
  refresh();
  move_store_away();
  const std::vector<std::pair<std::string, unsigned>> untrusted{
      {site_.cache(), 0777}, {mirror_path(), 0660}, {mirror_path(), 0606}};
  for (const auto& [path, mode] : untrusted) {
    site_.wipe_shared_memory();
    const auto before = std::filesystem::status(path).permissions();
    std::filesystem::permissions(path, std::filesystem::perms(mode));
    start();
    EXPECT_EQ(refresher_->refresh(now_).trouble, Trouble::StoreUnreachable);
    std::filesystem::permissions(path, before);
    refresher_->refresh(now_ + Milliseconds(500));
    EXPECT_EQ(site_.live("tags"), std::nullopt);
    refresher_->refresh(now_ + Milliseconds(1200));
    EXPECT_TRUE(site_.knows("tags", kKeys));
    EXPECT_TRUE(site_.knows("tags", added_keys(500)));
  }
}

TEST_F(SetRefresherAdds, AreReadFromTheMirrorOnceThereAreDescriptorsAgain) {
  go_live();
  site_.add("tags", added_keys(500));
  refresh();
  site_.wipe_shared_memory();
  std::filesystem::remove(log_path());
  start();
  {
    const NoDescriptors no_descriptors;
    refresh();
  }
  refresh();
  EXPECT_TRUE(site_.holds("tags", kKeys));
  EXPECT_TRUE(site_.holds("tags", added_keys(500)));
}

TEST_F(SetRefresherAdds, WritesAMirrorOfItsOwnWhateverTheUmask) {
  const mode_t before = ::umask(007);
  go_live();
  site_.add("tags", kAdded);
  refresh();
  ::umask(before);
  EXPECT_EQ(std::filesystem::status(mirror_path()).permissions(), std::filesystem::perms(0600));
}

TEST_F(SetRefresherAdds, CanBePushedToBesideADamagedLog) {
  site_.add("tags", kAdded);
  site_.push_after_adds("tags", kKeys);
  std::ofstream(log_path()) << std::string(500, 'x');
  const LogPosition adds_from = read_pointer(*open_store(url_), "tags")->current->adds_from;
  EXPECT_EQ(site_.push(build_snapshot("tags", kMoreKeys, 1'700'000'100, 0.01, adds_from)).generation, 2U);
}

}  // namespace
}  // namespace keysieve::test
