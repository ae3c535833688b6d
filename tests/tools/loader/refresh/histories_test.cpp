// What a host answers through histories of a set: pushes, adds and rollbacks, and stores that lose, forget,
// or go back.
#include <filesystem>

#include "core/builder/base/log_positions.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/traced_process.hpp"
#include "tests/tools/loader/refresh/history.hpp"
#include "tools/loader/adds/adds_mirror.hpp"

namespace keysieve::test {
namespace {

struct Row {
  const char* name;
  const char* script;

  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest calls it by this name
  friend void PrintTo(const Row& row, std::ostream* out) { *out << row.script; }
};

using Played = std::tuple<const HistoryStore*, Row>;

class Histories : public History, public ::testing::WithParamInterface<Played> {
 protected:
  Histories() : History(*std::get<0>(GetParam())) {}
};

TEST_P(Histories, KeepEveryPromise) {
  play(std::get<1>(GetParam()).script);
}

std::string name_of(const ::testing::TestParamInfo<Played>& info) {
  return std::string(std::get<1>(info.param).name) + "_" + std::get<0>(info.param)->name;
}

constexpr Row kOfAnyStore[]{
    {"AddsWithoutALook", "push; look; push; add 20; take; add 21-22; take; live 1; look"},
    {"AddsBeforeAnyLook", "push; add 20; take no; look"},
    {"ManyAdds", "push; look; flood; take no; look"},
    {"AddsBesideTrouble",
     "push; look; guard; import 30; push; look refused; add 20; take no; look refused; has 20"},
    {"AddsUntilARecordChanges",
     "push; look; add 20; hear; hear; add 21; hear; mark; hear; bypass set; hear no; look none maybe; hear; "
     "bypass all; hear no; look none maybe; hear; lift set; lift all; look; push; hear no; look; has 20-21"},
    {"AddedAndPushedWhileNoLoaderRuns", "push; look; add 20; push; restart; look"},
    {"Rollback",
     "push; look; add 20; look; import 30-39; push; look; add 21; look; rollback; look; reboot; look"},
    {"RollbackByAReplicaWithWhatTheHostHasForgotten",
     "push; look; add 20; look; push; look; add 21; look; push; save replica; push; look; load replica; "
     "rollback far;"
     "look; has 20-21"},
    {"OlderPointer", "push; save old; import 30-39; push; look; load records old; look refused; live 2"},
    {"PointerFromBeforeARollback",
     "push; import 30-39; push; look; save before; rollback; look; save after; load records before; look "
     "refused;"
     "restart; look refused; reboot; look refused; live 1; load after; look"},
    {"PointerFromBeforeARollbackOfWhatTheHostHasMissed",
     "push; import 30-39; push; save before; rollback; look; load records before; look refused; restart; "
     "look refused;"
     "reboot; look refused; live 1"},
    {"NumbersThatBeginAgain",
     "push; push; look; wipe; look not_pushed; reboot; look not_pushed; live 2; push; look"},
    {"TheLiveBuildPushedAgain", "push; build same; push same; look; wipe; push same; look; live 2"},
    {"StoreAwayAtAReboot", "push; add 20; look; away; reboot; look unavailable; has 20; back; look"},

    // A list that grows and shrinks, measured as the host's peers do, which have missed nothing.
    {"ShrunkByLittleEachTime", "import 10-39; push; look; shrink; drop 34-39; push; drop 29-33; push; look"},
    {"NotMeasuredByWhatWasRefused",
     "import 10-39; push; look; shrink; drop 20-39; push; look refused; push; look refused; live 1; import "
     "20-35; push;"
     "look"},
    {"MissedRollbackBeforeAPush",
     "import 10-19; push; import 20-39; push; look; shrink; rollback; drop 21-39; push; look; live 3"},
    {"ShrunkFromWhatTheHostHasMissed",
     "import 10-19; push; look; shrink; import 20-39; push; drop 20-39; push; look refused; live 1"},
    {"RollbackThatAGuardRefuses", "push; import 10-39; push; look; guard; rollback; look refused; live 2"},

    // A store that loses entries of the log.
    {"LogLost", "push; add 20; look; lose log; look adds_lost; new host; look adds_lost"},
    {"StoreEmptied",
     "push; add 20; build early; look; wipe; add 21; look not_pushed maybe; push early; look adds_lost"},
    {"OlderLogThanTheHostHasRead",
     "push; add 20; save old; add 21; look; load log old; look adds_lost; add 22-36; look adds_lost; restart;"
     "look adds_lost; new host; look"},
    {"LogLostOfWhichTheHostHasReadNothing",
     "push; look; add 20; lose log; look adds_lost; add 21; look adds_lost"},
    {"OlderLogInPlaceOfANewOne",
     "push; add 20; look; save old; lose log; look adds_lost; rebuild; look; add 21; load log old; look "
     "adds_lost"},
    {"OlderLogThanAPushHasCounted",
     "push; save old; add 20; push; load log old; look adds_lost; add 21; look adds_lost"},
    {"LogLostBeforeARebootWithoutTheStore",
     "push; add 20; look; lose log; look adds_lost; away; reboot; look unavailable maybe"},
    {"LogLostUntilALaterBuild",
     "push; add 20; build early; look; lose log; add 21; look adds_lost; push early fails; look adds_lost;"
     "rebuild; look; new host; look; rollback; look adds_lost"},
    {"StoreEmptiedUntilALaterBuild", "push; add 20; look; wipe; look not_pushed maybe; rebuild; look"},
    {"LossKnownToTheSetAlone",
     "push; add 20; look; wipe; push; look adds_lost; lose mirror; restart; look adds_lost; rebuild; look"},
    {"NothingReadNothingLost", "push; look; wipe; look not_pushed; push; look"},
    {"DeletedAndPushedAgain", "push; add 20; look; add 21; delete; rebuild; look"},
    {"Trimmed",
     "push; add 20; look; rebuild; look; rebuild; look; rebuild; look; rebuild; look; rebuild; look; "
     "restart; look;"
     "add 21; look; new host; look"},
    {"LogThatComesBack", "push; add 20; look; save whole; lose log; look adds_lost; load log whole; look"},

    // What the host keeps itself.
    {"MirrorWithoutWhatNoKeptGenerationNeeds",
     "push; look; add 20-24; look; push; look; add 25-29; look; push; look; add 30-32; look; push; look; "
     "add 33-34; look; push; look; look; live 5; mirrored 5"},
    {"MirrorThatCannotBeSaved",
     "push; look; block mirror; add 20; take no; look adds_in_memory; add 21; take no; look adds_in_memory; "
     "has 20-21; unblock mirror; look; mirrored 2"},
    {"MirrorThatOthersMayWriteTo",
     "push; add 20; look; open mirror; lose log; restart; add 21; look adds_in_memory maybe; has 20-21; "
     "mirrored 1; shut mirror; add 22; look adds_lost; mirrored 3"},
    {"CacheThatCannotBeWritten",
     "push; look; troubles; open cache; look; troubles; push; look; troubles not_cached; push; look; "
     "troubles not_cached; shut cache; look; troubles; away; reboot; look unavailable; live 3"},
    {"CacheThatCannotBeWrittenBeforeTheLoaderBeginsAgain",
     "push; look; open cache; push; look; shut cache; restart; look; away; reboot; look unavailable; live 2"},
    {"CacheThatCannotBeWrittenWhileTheStoreIsEmpty",
     "push; look; open cache; push; look; save whole; wipe; look not_pushed; troubles not_pushed not_cached; "
     "load whole; look; troubles not_cached"},
    {"CacheThatCannotBeRead",
     "import 10-39; shrink; push; save first; look; drop 20-39; push; open cache; look refused; troubles "
     "refused "
     "not_cached; shut cache; load records first; look; troubles"},
    {"PublishedByHand", "push; look; import 30; publish; live 2; look; live 1"},
    {"AddsToWhatWasPublishedByHand", "push; look; publish; add 20; take no; look; live 1"},
    {"PublishedByHandWhileTheStoreIsAway",
     "push; look; add 20; look; publish; away; look unavailable; live 2; has 20"},
    {"DamagedShard", "push; look; damage shard; away; look unavailable; live 1; back; look"},
    {"DamagedShardOfWhatIsNotInTheCache",
     "push; look; damage shard; lose cache; away; look unavailable maybe; restart; look unavailable maybe; "
     "back; look; live 1"},
    {"DamagedTables", "push; look; damage tables; look; live 1"},
    {"RemovedFile", "push; look; damage file; look; live 1"},
};

INSTANTIATE_TEST_SUITE_P(OfAnyStore, Histories,
                         ::testing::Combine(::testing::Values(&kDirHistory, &kRedisHistory),
                                            ::testing::ValuesIn(kOfAnyStore)),
                         name_of);

// A folder that is copied file by file, so that its log may be newer than its pointer. The log of a folder
// says how far it was trimmed.
constexpr Row kOfAFolder[]{
    {"PointerOlderThanTheTrimmedLog",
     "add 20; push; save old; add 21; push; push; push; save new; load records old; look refused; look "
     "refused; restart;"
     "look refused; live 0; load new; look"},
    {"StoreEmptiedAfterAHoleInItsLog",
     "add 20; push; look; add 21; push; push; push; look; wipe; push; look adds_lost"},
    {"AddsBesideAnOlderPointer",
     "add 20; push; look; save old; add 21; push; push; push; add 22; save new; load records old; look "
     "refused; restart;"
     "look refused; has 22; live 1; load new; look"},
    {"AddsBesideAnOlderPointerToWhatTheHostHasMissed",
     "add 20; push; look; import 30-39; push; save old; add 21; push; push; push; add 22; load records old; "
     "look refused;"
     "restart; look refused; has 22; live 1; reboot; look refused; live 1"},
    {"ManyAddsBesideAnOlderPointer",
     "add 20; push; look; save old; add 21; push; push; push; flood; add 22; load records old; look refused; "
     "has 22;"
     "look refused"},
    {"LostPointerBesideATrimmedLog",
     "add 20; push; build early; add 21; push; push; push; lose pointer; push early fails; push; look"},
    {"PointerFromBeforeTheStoreCountedAnew",
     "push; push; push; look; save old; wipe; rebuild; look; live 4; save new; load old; look refused; live "
     "4; "
     "load new; look"},
    {"AddsWhileNewerGenerationsAreRefused",
     "add 20; push; look; guard; add 21; push; push; push; look refused; add 22; look refused; has 22; "
     "restart; add 23;"
     "push; push; push; look refused; add 24; look refused; has 24; live 1"},
};

INSTANTIATE_TEST_SUITE_P(OfAFolder, Histories,
                         ::testing::Combine(::testing::Values(&kDirHistory), ::testing::ValuesIn(kOfAFolder)),
                         name_of);

// The switches of a bypass, one set's and that of all, each in force until it is lifted or cannot be read.
constexpr Row kBypasses[]{
    {"OfTheSet", "push; look; bypass set; look none maybe; reboot; look none maybe; lift set; look"},
    {"OfAllSets", "push; look; bypass all; look none maybe; lift all; look"},
    {"BeforeTheFirstPush", "bypass all; look not_pushed; push; look none maybe; lift all; look"},
    {"WhileTheStoreIsAway", "push; bypass set; look none maybe; away; look unavailable maybe"},
    {"OfTheOperatorBesideThatOfTheStore",
     "push; look; bypass here; look none maybe; bypass set; look none maybe; lift set; look none maybe; "
     "bypass set; lift here; look none maybe; lift set; look"},
    {"OfTheSetWhileThePointerIsMissing",
     "push; save whole; bypass set; look none maybe; lose pointer; look not_pushed maybe; lift all; look "
     "not_pushed maybe; load records whole; look"},
    {"OfTheSetWhileThePointerIsDamaged",
     "push; save whole; bypass set; look none maybe; spoil pointer; look refused maybe; lift all; look "
     "refused maybe; load records whole; look"},
    {"OfTheSetWhileThePointerIsTooLarge",
     "push; save whole; bypass set; look none maybe; swell pointer; look refused maybe; load records whole; "
     "look"},
    {"OfAllSetsWhileThePointerIsMissing",
     "push; save whole; look; lose pointer; bypass all; look not_pushed maybe; lift all; look not_pushed "
     "maybe; load records whole; look"},
    {"OfAllSetsWhileThePointerIsDamaged",
     "push; save whole; look; spoil pointer; bypass all; look refused maybe; load records whole; look"},
    {"WhoseRecordSaysNothing", "push; look; spoil bypass; look none maybe; lift all; look"},
    {"OfTheSetIsNotShortenedByThatOfAllSets",
     "push; bypass set; look none maybe; lose pointer; bypass all over; look not_pushed maybe"},
    {"OfNothingWhileOnlyTheLogCanBeRead",
     "push; look; block pointer; block bypass; add 20; look refused; has 20; live 1"},
};

INSTANTIATE_TEST_SUITE_P(Bypasses, Histories,
                         ::testing::Combine(::testing::Values(&kDirHistory), ::testing::ValuesIn(kBypasses)),
                         name_of);

constexpr Row kOfAStoreThatForgets[]{
    {"NumbersThatBeginAgain",
     "push; look; away; look unavailable; back; wipe; look not_pushed; reboot; look not_pushed; live 1; "
     "push; look"},
};

INSTANTIATE_TEST_SUITE_P(OfAStoreThatForgets, Histories,
                         ::testing::Combine(::testing::Values(&kMemcachedHistory),
                                            ::testing::ValuesIn(kOfAStoreThatForgets)),
                         name_of);

class LostAdds : public History {
 protected:
  LostAdds() : History(kRedisHistory) {}

  static void command(const std::string& words) { shared_redis().command(words); }
  // Up to where keys may be lost, as the host remembers it.
  [[nodiscard]] LogPosition lost_to() const {
    AddsMirror mirror(site_.cache() + "/tags.adds");
    mirror.load();
    return mirror.known_log().witness.lost_to;
  }
  // An entry of a clock that is ahead, with these fields, after so many keys.
  void put_ahead(const std::string& fields, std::uint64_t count) const {
    const LogFacts log = open_store(url_)->facts_of(kLog);
    command("XADD keysieve:tags:adds 4000000000000-0 " + fields + " log " + to_text(log.begun) + " count " +
            std::to_string(count));
  }
};

TEST_F(LostAdds, AreOverWithALaterBuildThoughTheClockOfTheStoreWasAhead) {
  play("push; add 20; look; save old");
  put_ahead("key key-21", 2);
  play("look; load log old; look adds_lost; rebuild; look; add 22; look");
}

TEST_F(LostAdds, HideNoKeyOfTheNextLogFromAHostThatHadReadNone) {
  play("push");
  put_ahead("mark later", 0);
  play("look; wipe; push; add 20; look");
}

// With each add, no build would ever be late enough.
TEST_F(LostAdds, AreNotMoreWithEachAdd) {
  play("push; add 20; look; lose log; add 21; look adds_lost");
  const LogPosition before = lost_to();
  EXPECT_NE(before, kBeforeAll);
  play("add 22; look adds_lost; add 23; look adds_lost; restart; add 24; look adds_lost");
  EXPECT_EQ(lost_to(), before);
}

// It may be another log.
TEST_F(LostAdds, AreNotForgottenBeforeTheLogWasReadToItsEnd) {
  play("push; look; add 20; push; save whole; lose log; look adds_lost; load log whole; flood");
  refresh();
  ASSERT_TRUE(refresher_->has_more());
  EXPECT_TRUE(answers_maybe());
  play("look");
}

class LostAddsOfAFolder : public History {
 protected:
  LostAddsOfAFolder() : History(kDirHistory) {}
};

TEST_F(LostAddsOfAFolder, HideNoKeyThatWasAddedBeforeTheyCameBack) {
  if (!can_trace()) GTEST_SKIP() << "may not trace a process";
  play("push; add 20; look; save whole; lose log; look adds_lost; load log whole; add 21");
  TracedProcess look([this] {
    refresh();
    return 0;
  });
  const auto is_known = [this] {
    SetReader reader({.directory = site_.directory()}, "tags");
    const Attachment* attached = reader.follow();
    if (attached == nullptr) return reader.availability() == Availability::Bypassed;
    return attached->may_contain(attached->snapshot().hasher()(key_text(21)));
  };
  while (look.step() && !HasFailure()) EXPECT_TRUE(is_known());
  play("look");
}

// Its file is one for records and logs, and can be replaced only while no process has it open.
TEST_F(SetRefresherTest, NoticesAddsThatAnLmdbStoreHasLost) {
  namespace fs = std::filesystem;
  url_ = "lmdb:" + site_.root() / "embedded";
  start();
  const std::string file = site_.root() / "embedded/data.mdb";
  site_.push("tags", kKeys, url_);
  fs::copy_file(file, file + ".older");
  site_.add("tags", {100, 10}, url_);
  ASSERT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  openers_.clear();
  fs::rename(file + ".older", file);
  EXPECT_EQ(trouble(), Trouble::AddsLost);
  site_.add("tags", {200, 10}, url_);
  EXPECT_EQ(trouble(), Trouble::AddsLost);
  EXPECT_FALSE(site_.knows("tags", kKeys)) << "every answer is maybe";
}

}  // namespace
}  // namespace keysieve::test
