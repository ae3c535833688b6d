#include <filesystem>
#include <utility>

#include "core/builder/base/log_positions.hpp"
#include "core/builder/snapshot/seal.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/signing_keys.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve::test {
namespace {

constexpr UnixSeconds kMoment = 1'700'000'000;
constexpr UnixSeconds kLatestMoment = 1'000'000'000'000;

class SignedSetRefresher : public SetRefresherTest {
 protected:
  SignedSetRefresher() {
    set_.public_keys = {key_.public_key()};
    start();
  }

  [[nodiscard]] static SnapshotBytes built(const Signer* signer, KeyRange keys = kKeys,
                                           UnixSeconds as_of = kMoment,
                                           const std::string& set_name = "tags") {
    return build_snapshot(set_name, keys, as_of, 0.01, {}, signer);
  }
  // By someone without the key: the signature is that of the header before.
  static SnapshotBytes forged(SnapshotBytes snapshot, UnixSeconds as_of) {
    auto header = load<SnapshotHeader>(snapshot.get().data());
    header.as_of = as_of;
    header.header_checksum = header_checksum(header);
    store(snapshot.get().data(), header);
    return snapshot;
  }
  [[nodiscard]] SnapshotBytes built_at(UnixSeconds moment, KeyRange keys) const {
    SnapshotBytes snapshot = built(&key_, keys);
    auto header = load<SnapshotHeader>(snapshot.get().data());
    header.built_at = moment;
    seal_front(snapshot.get().first(snapshot_layout(header).shards.offset), header, &key_);
    return snapshot;
  }
  // As anyone may who can write to the store.
  void push_any(const SnapshotBytes& snapshot) const {
    const auto store = open_store(site_.store_url());
    keysieve::push(*store, SnapshotView::decode(snapshot.get(), "test", Check::Everything),
                   {.min_keys = 0, .max_shrink = {}, .allow_any_as_of = true});
  }
  void go_live_signed() {
    push_any(built(&key_));
    ASSERT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  }
  void expect_refused(ErrorKind kind, std::uint64_t refusals = 1) {
    EXPECT_THAT(refresh(), IsRefused());
    EXPECT_EQ(refused(kind), refusals) << refresher_->outcome().reason;
    EXPECT_EQ(site_.live_generation("tags"), 1U) << "what is live stays";
    EXPECT_TRUE(site_.knows("tags", kKeys));
  }

  const SigningKey key_ = signing_key('1');
  const SigningKey other_ = signing_key('2');
};

TEST_F(SignedSetRefresher, KeepsWhatIsLiveUnlessItsKeyHasSignedTheNext) {
  go_live_signed();
  std::uint64_t refusals = 0;
  const auto expect_next_refused = [&](const SnapshotBytes& next) {
    push_any(next);
    expect_refused(ErrorKind::NotSigned, ++refusals);
  };
  expect_next_refused(built(nullptr, kMoreKeys, kMoment + 1));
  expect_next_refused(built(&other_, kMoreKeys, kMoment + 1));
  expect_next_refused(forged(built(&key_, kMoreKeys, kMoment + 1), kMoment + 2));
}

TEST_F(SignedSetRefresher, KeepsWhatIsLiveWhenAnOlderOneIsReplayedAfterARebootToo) {
  push_any(built(&key_, kKeys, kMoment + 3600));
  ASSERT_EQ(trouble(), Trouble::None);
  push_any(built(&key_, kMoreKeys, kMoment));
  expect_refused(ErrorKind::Older);
  site_.wipe_shared_memory();
  start();
  expect_refused(ErrorKind::Older);
}

TEST_F(SignedSetRefresher, KeepsWhatIsLiveWhenAnEarlierBuildOfTheSameListIsReplayed) {
  push_any(built_at(kMoment + 60, kKeys));
  ASSERT_EQ(trouble(), Trouble::None);
  push_any(built_at(kMoment + 59, kMoreKeys));
  expect_refused(ErrorKind::Older);
  push_any(built_at(kMoment + 61, kMoreKeys));
  EXPECT_EQ(trouble(), Trouble::None);
}

// Neither shared memory nor a cached snapshot is left.
TEST_F(SignedSetRefresher, RefusesAReplayWhenNothingIsLive) {
  push_any(built(&key_, kKeys, kMoment + 3600));
  ASSERT_EQ(trouble(), Trouble::None);
  site_.wipe_shared_memory();
  std::filesystem::remove(site_.cache() + "/tags.ks");
  start();
  push_any(built(&key_, kMoreKeys, kMoment));
  EXPECT_THAT(refresh(), IsRefused());
  EXPECT_EQ(site_.live("tags"), std::nullopt);
  push_any(built(&key_, kMoreKeys, kMoment + 3601));
  EXPECT_EQ(trouble(), Trouble::None);
}

// Its records are not signed: only what was live and has the right signature says how new a set was.
TEST_F(SignedSetRefresher, IsNotHeldBackByAMomentInTheStore) {
  go_live_signed();
  push_any(built(&key_, kMoreKeys, kMoment + 1));
  ASSERT_EQ(trouble(), Trouble::None);
  change_pointer(*open_store(site_.store_url()), "tags", [](PointerRecord& pointer) {
    SnapshotRecord& older = pointer.previous.at(0);
    return std::exchange(older.as_of, kLatestMoment) != kLatestMoment;
  });
  ASSERT_EQ(trouble(), Trouble::None);
  std::filesystem::remove_all(site_.root() / "store");
  push_any(built(&key_, kMoreKeys, kMoment + 2));
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live_generation("tags"), 1U);
}

// A rollback is what a replay looks like.
TEST_F(SignedSetRefresher, RefusesARollback) {
  go_live_signed();
  push_any(built(&key_, kMoreKeys, kMoment + 1));
  ASSERT_EQ(trouble(), Trouble::None);
  site_.roll_back("tags");
  EXPECT_THAT(refresh(), IsRefused());
  EXPECT_EQ(site_.live_generation("tags"), 2U);
}

TEST_F(SignedSetRefresher, TakesTheOlderListBuiltAgain) {
  go_live_signed();
  push_any(built(&key_, kMoreKeys, kMoment + 1));
  ASSERT_EQ(trouble(), Trouble::None);
  push_any(built(&key_, kKeys, kMoment + 2));
  set_.guards.max_shrink.reset();
  start();
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live_generation("tags"), 3U);
}

TEST_F(SignedSetRefresher, KeepsAddedKeysInTheOlderListBuiltAgain) {
  go_live_signed();
  const LogPosition adds_from = site_.live("tags")->adds_from;
  site_.add("tags", kAdded);
  push_any(
      build_snapshot("tags", kMoreKeys, kMoment + 1, 0.01, log_position(std::uint64_t{1} << 50, 0), &key_));
  ASSERT_EQ(trouble(), Trouble::None);
  ASSERT_FALSE(site_.knows("tags", kAdded)) << "the wrong list does not have them";
  push_any(build_snapshot("tags", kKeys, kMoment + 2, 0.01, adds_from, &key_));
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_TRUE(site_.knows("tags", kAdded));
}

// The store calls it "tags"; its header says otherwise, and is signed.
TEST_F(SignedSetRefresher, KeepsWhatIsLiveWhenAnotherSetIsPassedOff) {
  go_live_signed();
  push_any(built(&key_, kMoreKeys, kMoment + 1, "other"));
  const auto store = open_store(site_.store_url());
  for (const std::string& key : store->keys_with_prefix("keysieve:other:")) {
    std::string as_tags = key;
    as_tags.replace(as_tags.find("other"), 5, "tags");
    const std::string value = store->get(key).value();
    const Record record{as_tags, value};
    store->put_many({&record, 1});
  }
  refresher_->try_again_now();
  EXPECT_THAT(refresh(), IsRefused());
  EXPECT_TRUE(site_.holds("tags", kKeys));
}

TEST_F(SignedSetRefresher, TakesEitherOfTwoKeysWhileBuildersMoveToTheNext) {
  set_.public_keys.push_back(other_.public_key());
  start();
  go_live_signed();
  push_any(built(&other_, kMoreKeys, kMoment + 1));
  EXPECT_EQ(trouble(), Trouble::None);
  set_.public_keys = {other_.public_key()};
  start();
  EXPECT_EQ(trouble(), Trouble::None);
  push_any(built(&key_, kMoreKeys, kMoment + 2));
  EXPECT_THAT(refresh(), IsRefused());
}

TEST_F(SignedSetRefresher, RefusesACachedSnapshotThatIsNotSigned) {
  SetCache(site_.cache(), "tags").save(1, built(nullptr).get());
  site_.remove_store();
  EXPECT_NE(trouble(), Trouble::None);
  EXPECT_EQ(site_.live("tags"), std::nullopt);
  SetCache(site_.cache(), "tags").save(1, built(&key_).get());
  refresh();
  EXPECT_TRUE(site_.knows("tags", kKeys));
}

// It was published before the set had a public key.
TEST_F(SignedSetRefresher, SaysThatWhatIsLiveIsNotSigned) {
  set_.public_keys.clear();
  start();
  push_any(built(nullptr, kKeys, kMoment + 3600));
  ASSERT_EQ(trouble(), Trouble::None);
  set_.public_keys = {key_.public_key()};
  start();
  expect_refused(ErrorKind::NotSigned);
  push_any(built(&key_, kMoreKeys, kMoment + 3601));
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live_generation("tags"), 2U);
}

// It names the builder's key, and was published before the set had one.
TEST_F(SignedSetRefresher, DoesNotTrustAForgedLivePublication) {
  set_.public_keys.clear();
  start();
  push_any(forged(built(&key_), kLatestMoment));
  ASSERT_EQ(trouble(), Trouble::None);
  set_.public_keys = {key_.public_key()};
  start();
  expect_refused(ErrorKind::NotSigned);
  push_any(built(&key_, kMoreKeys));
  EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  EXPECT_EQ(site_.live_generation("tags"), 2U);
}

TEST_F(SignedSetRefresher, TrustsWhatWasLiveBeforeItHadAPublicKey) {
  set_.public_keys.clear();
  start();
  push_any(built(&key_, kKeys, kMoment + 3600));
  ASSERT_EQ(trouble(), Trouble::None);
  const PublicationId before = site_.live("tags")->id;
  set_.public_keys = {key_.public_key()};
  start();
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live("tags")->id, before);
  push_any(built(&key_, kMoreKeys, kMoment));
  expect_refused(ErrorKind::Older);
}

// Who has stolen it may have signed any moment.
TEST_F(SignedSetRefresher, ForgetsTheMomentOfAKeyThatWasTakenOffTheList) {
  set_.public_keys = {key_.public_key(), other_.public_key()};
  start();
  push_any(built(&other_, kKeys, kLatestMoment));
  ASSERT_EQ(trouble(), Trouble::None);
  set_.public_keys = {key_.public_key()};
  start();
  push_any(built(&key_, kMoreKeys, kMoment));
  EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  EXPECT_EQ(site_.live_generation("tags"), 2U);
}

}  // namespace
}  // namespace keysieve::test
