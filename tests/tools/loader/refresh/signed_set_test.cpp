#include <filesystem>
#include <iterator>
#include <sstream>
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
  const SigningKey key_ = signing_key('1');
  const SigningKey other_ = signing_key('2');
};

// Histories in which each push has a key more than the one before.
struct SignedRow {
  const char* name;
  // - push SIGNER MOMENT, push SIGNER MOMENT built MOMENT: own, other, none, or forged: with the signature of
  //   the header before, as by someone without the key. MOMENT: seconds, or latest.
  // - look N, look REASON N: is well, or refuses the next. Then generation N is live, 0: none.
  // - trust own, trust own other, trust other, trust none: the set's public keys, for a loader that begins.
  // - rollback: in the store. reboot: without memory. lose cache.
  const char* script;

  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest calls it by this name
  friend void PrintTo(const SignedRow& row, std::ostream* out) { *out << row.script; }
};

class SignedHistories : public SignedSetRefresher, public ::testing::WithParamInterface<SignedRow> {
 protected:
  static UnixSeconds moment(const std::string& word) {
    return word == "latest" ? kLatestMoment : kMoment + std::stoi(word);
  }
  void push(const std::vector<std::string>& words) {
    const bool is_forged = words[1] == "forged";
    const Signer* signer = words[1] == "none" ? nullptr : words[1] == "other" ? &other_ : &key_;
    SnapshotBytes snapshot = built(signer, {0, ++keys_}, is_forged ? kMoment : moment(words[2]));
    auto header = load<SnapshotHeader>(snapshot.get().data());
    header.as_of = moment(words[2]);
    if (words.size() > 3) header.built_at = moment(words[4]);
    if (is_forged) {
      header.header_checksum = header_checksum(header);
      store(snapshot.get().data(), header);
    } else {
      seal_front(snapshot.get().first(snapshot_layout(header).shards.offset), header, signer);
    }
    push_any(snapshot);
  }
  void look(const std::vector<std::string>& words) {
    const auto before = site_.live("tags");
    const ErrorKind why = words[1] == "older" ? ErrorKind::Older : ErrorKind::NotSigned;
    const std::uint64_t refused_before = refused(why);
    const RefreshOutcome& outcome = refresh();
    if (words.size() == 2) {
      EXPECT_EQ(outcome.trouble, Trouble::None) << outcome.reason;
    } else {
      EXPECT_THAT(outcome, IsRefused());
      const bool is_another = std::exchange(refused_push_, keys_) != keys_;
      EXPECT_EQ(refused(why), refused_before + (is_another ? 1 : 0)) << outcome.reason;
    }
    EXPECT_EQ(site_.live_generation("tags"), std::stoull(words.back()));
    const auto now = site_.live("tags");
    EXPECT_EQ(site_.knows("tags", kKeys), now.has_value());
    if (before && now && before->generation == now->generation) {
      EXPECT_EQ(before->id, now->id);
    }
  }
  void step(const std::vector<std::string>& words) {
    if (words[0] == "push") {
      push(words);
    } else if (words[0] == "look") {
      look(words);
    } else if (words[0] == "rollback") {
      site_.roll_back("tags");
    } else if (words[0] == "lose") {
      std::filesystem::remove(site_.cache() + "/tags.ks");
    } else {
      if (words[0] == "reboot") site_.wipe_shared_memory();
      if (words[0] == "trust") set_.public_keys.clear();
      if (std::ranges::count(words, "own") != 0) set_.public_keys.push_back(key_.public_key());
      if (std::ranges::count(words, "other") != 0) set_.public_keys.push_back(other_.public_key());
      start();
      refused_push_ = 0;
    }
  }

 private:
  int keys_ = 1000;
  int refused_push_ = 0;  // the last one, by its number of keys: a process counts a build once
};

TEST_P(SignedHistories, PublishOnlyWhatAKeyOfTheSetHasSignedAndNothingOlder) {
  std::istringstream steps{std::string(GetParam().script)};
  for (std::string text; std::getline(steps >> std::ws, text, ';') && !HasFailure();) {
    SCOPED_TRACE(text);
    std::istringstream stream(text);
    step({std::istream_iterator<std::string>(stream), {}});
  }
}

constexpr SignedRow kSignedRows[]{
    {"NotItsKey",
     "push own 0; look 1; push none 1; look not_signed 1; push other 1; look not_signed 1; push forged 2; "
     "look not_signed 1"},
    {"Replay", "push own 3600; look 1; push own 0; look older 1; reboot; look older 1"},
    {"ReplayOfAnEarlierBuildOfTheSameList",
     "push own 0 built 60; look 1; push own 0 built 59; look older 1; push own 0 built 61; look 3"},
    {"ReplayWhenNothingIsLive",
     "push own 3600; look 1; lose cache; reboot; push own 0; look older 0; push own 3601; look 3"},
    {"RollbackWhichIsWhatAReplayLooksLike",
     "push own 0; look 1; push own 1; look 2; rollback; look older 2; push own 2; look 4"},
    {"TwoKeysWhileBuildersMoveToTheNext",
     "trust own other; push own 0; look 1; push other 1; look 2; trust other; look 2; push own 2; look "
     "not_signed 2"},
    {"LiveBeforeTheSetHadAKeyAndNotSigned",
     "trust none; push none 3600; look 1; trust own; look not_signed 1; push own 3601; look 2"},
    {"CachedBeforeTheSetHadAKeyAndNotSigned",
     "trust none; push none 0; look 1; trust own; reboot; look not_signed 0; push own 1; look 2"},
    {"LiveBeforeTheSetHadAKeyAndForged",
     "trust none; push forged latest; look 1; trust own; look not_signed 1; push own 0; look 2"},
    {"LiveBeforeTheSetHadAKeyAndSigned",
     "trust none; push own 3600; look 1; trust own; look 1; push own 0; look older 1"},
    {"MomentOfAKeyThatWasTakenOffTheListAsStolen",
     "trust own other; push other latest; look 1; trust own; push own 0; look 2"},
};

INSTANTIATE_TEST_SUITE_P(Rows, SignedHistories, ::testing::ValuesIn(kSignedRows),
                         [](const auto& row) { return std::string(row.param.name); });

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

}  // namespace
}  // namespace keysieve::test
