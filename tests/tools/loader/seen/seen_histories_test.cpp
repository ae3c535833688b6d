// What hosts with a seen set answer through histories of it: windows that end, loaders that stop, reboots,
// clocks, lost memory, and what comes from other hosts through a store.
#include <gmock/gmock.h>

#include <map>
#include <sstream>

#include "core/publisher/seen/new_segment.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"

namespace keysieve::test {
namespace {

struct SeenRow {
  const char* name;
  const char* hosts;  // with a store; "": one without
  // Steps, which a semicolon parts: of each host, or of the one that is named first. R: keys, such as 20 or
  // 30-39. TIME: minutes, or minutes and seconds, after noon by the host's clock.
  // - look TIME, look TIME TROUBLE, look TIME any: reports no trouble, that one, or some.
  // - add R, fill R, grow R TIME: a worker adds keys, all of which are new; or as many as are; in steps
  //   between which the loader looks.
  // - has R, lacks R: knows all of them, in a process that was there and in a new one; or none.
  // - stop, start, save, reboot: the loader ends, begins, sends what is new; the host has no memory any more.
  // - keys N, windows N: of the configuration with which the loader starts next.
  // - clock N: is set forward by so many minutes. room, no room: for another window.
  // - lose N: somebody removes the memory of that filter, from the oldest. filters N: there are so many.
  // - saved N: at most so many keys were sent. loses, keeps: what the store confirms, as with a failover.
  // - away, back: the store cannot be read, and can again. waits: the set answers as configured.
  // - others TIME: a loader without that set looks. marked CODE, marked: what it says of it. gone: it is.
  const char* script;

  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest calls it by this name
  friend void PrintTo(const SeenRow& row, std::ostream* out) { *out << row.script; }
};

class SeenHistories : public SavedSeenSet, public ::testing::WithParamInterface<SeenRow> {
 protected:
  SeenHistories() {
    std::istringstream names(GetParam().hosts);
    for (std::string name; names >> name;) hosts_.try_emplace(name, clicks_config(name), url_);
    if (hosts_.empty()) hosts_.try_emplace("alone", clicks_config(), "");
  }

  struct Keys {
    std::uint64_t first;
    std::uint64_t count;
  };
  static Keys keys_of(const std::string& range) {
    const std::size_t dash = range.find('-');
    const std::uint64_t first = std::stoull(range);
    return {first, dash == std::string::npos ? 1 : std::stoull(range.substr(dash + 1)) - first + 1};
  }
  static UnixSeconds time_of(const std::string& text) {
    const std::size_t colon = text.find(':');
    return kNoon + std::stoll(text) * kMinute +
           (colon == std::string::npos ? 0 : std::stoll(text.substr(colon + 1)));
  }

  static void look(SeenHost& host, const std::vector<std::string>& words) {
    const SeenReport& report = host.look(time_of(words.at(1)));
    if (words.back() == "any") return;
    const bool is_well = words.size() == 2;
    EXPECT_EQ(report.reason == "" && !report.is_full, is_well) << report.reason;
    EXPECT_TRUE(is_well || std::ranges::count(report.troubles().names(), words.back()) == 1) << report.reason;
  }
  static void expect_known(SeenHost& host, const Keys& keys, bool are_known) {
    EXPECT_EQ(host.count_of(keys.first, keys.count), are_known ? keys.count : 0U);
    if (!are_known) return;
    SeenReader other({.directory = host.directory()}, "clicks");
    EXPECT_TRUE(other.follow()) << other.reason();
    for (std::uint64_t key = keys.first; key < keys.first + keys.count; ++key)
      EXPECT_TRUE(SeenHost::has(other, key)) << key;
  }
  static void expect_marked(SeenHost& host, const std::vector<std::string>& words) {
    const SeenPage& page = *host.worker().page();
    EXPECT_THAT(Troubles(page.troubles.load()).names(),
                ::testing::ElementsAreArray(words.begin() + 1, words.end()));
    EXPECT_EQ(page.next_look == 0, words.size() > 1);
  }
  void step(SeenHost& host, const std::vector<std::string>& words) {
    const std::string& verb = words[0];
    const std::string& last = words.back();
    if (verb == "look") {
      look(host, words);
    } else if (verb == "add") {
      const Keys keys = keys_of(last);
      EXPECT_EQ(host.add_many(keys.first, keys.count), keys.count);
    } else if (verb == "fill") {
      host.add_many(keys_of(last).first, keys_of(last).count);
    } else if (verb == "grow") {
      host.add_slowly(keys_of(words.at(1)).first, keys_of(words.at(1)).count, time_of(last));
    } else if (verb == "has" || verb == "lacks") {
      expect_known(host, keys_of(last), verb == "has");
    } else if (verb == "stop") {
      host.stop();
    } else if (verb == "start") {
      host.start();
    } else if (verb == "save") {
      host.save();
    } else if (verb == "reboot") {
      host.reboot();
    } else if (verb == "keys") {
      host.config().keys = std::stoull(last);
    } else if (verb == "windows") {
      host.config().windows = static_cast<unsigned>(std::stoul(last));
    } else if (verb == "clock") {
      host.set_clock(std::stoll(last) * kMinute);
    } else if (last == "room") {
      host.has_room = verb == "room";
    } else if (verb == "lose") {
      remove_segment(host.segment_key(static_cast<std::uint32_t>(std::stoul(last))));
    } else if (verb == "filters") {
      EXPECT_EQ(host.worker().attached().size, std::stoul(last));
    } else if (verb == "away" || verb == "back") {
      host.tap.before_log = [is_away = verb == "away"] {
        if (is_away) lose_connection();
      };
    } else if (verb == "loses" || verb == "keeps") {
      host.tap.loses = [loses = verb == "loses"](const auto&) { return loses; };
    } else if (verb == "waits") {
      EXPECT_FALSE(host.worker().is_ready());
      EXPECT_EQ(host.worker().on_unavailable(), OnUnavailable::Seen);
    } else if (verb == "saved") {
      EXPECT_LE(host.report().keys_saved, std::stoul(last));
    } else if (verb == "others") {
      segment_ = host.segment_key(0);
      host.look_of_others(time_of(last));
    } else if (verb == "marked") {
      expect_marked(host, words);
    } else if (verb == "gone") {
      EXPECT_FALSE(std::filesystem::exists(host.folder()));
      EXPECT_FALSE(host.worker().is_ready());
      EXPECT_FALSE(has_segment(segment_));
    } else {
      throw std::logic_error("no step: " + verb);
    }
  }

  std::map<std::string, SeenHost> hosts_;
  std::uint32_t segment_ = 0;  // the oldest of the set that others have looked at
};

TEST_P(SeenHistories, KeepWhatWasSeenForItsTime) {
  std::istringstream steps{std::string(GetParam().script)};
  for (std::string text; std::getline(steps >> std::ws, text, ';') && !HasFailure();) {
    SCOPED_TRACE(text);
    std::istringstream stream(text);
    std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
    const auto named = hosts_.find(words[0]);
    if (named != hosts_.end()) words.erase(words.begin());
    for (auto& [name, host] : hosts_) {
      if (named == hosts_.end() || named->first == name) step(host, words);
    }
  }
}

constexpr SeenRow kSeenRows[]{
    {"AKeyIsNewOnceUntilItsWindowIsOver", "",
     "look 0; add 1; has 1; look 10; has 1; add 2; look 19:59; has 1; look 20; lacks 1; add 1; has 2"},
    {"LoaderThatIsStoppedForTenWindows", "",
     "look 0; add 0-499; stop; has 0-499; add 1000; start; has 1000; look 100; has 1000; look 109:59; has "
     "1000; look 110; lacks 1000; filters 2"},
    {"ClockThatIsSetForward", "",
     "windows 3; start; look 0; add 1; look 10; add 2; clock 60; look 71; add 3; start; look 89; has 1; look "
     "91; has 3; lacks 1-2"},
    {"ClockThatWasAheadWhenTheWindowBegan", "",
     "look 60; add 1; look 59; clock -60; look 0 seen_overdue; has 1; filters 1; look 70"},
    {"BurstOfMoreKeysThanAFilterIsMadeFor", "", "look 0; fill 0-5999; look 1 seen_full; filters 2; look 10"},
    {"WindowThatCannotGrowAnyMore", "",
     "keys 100; start; look 0; grow 0-1999 1; look 1 seen_full; filters 4; has 0-1999; look 10"},
    {"NotConfiguredAfterARestart", "",
     "look 0; add 1; stop; others 2; marked; others 2:01; marked not_configured; others 19:59; has 1; others "
     "20; gone"},
    {"NotConfiguredForAWhile", "",
     "look 0; add 1; stop; others 5; marked not_configured; start; look 10; marked; has 1; add 2; stop; "
     "others 12; "
     "marked; others 29:59; others 29:59; has 2"},
    {"HeldByALoaderThatHasNotLookedForLong", "", "look 0; add 1; others 100; others 100; marked; has 1"},
    {"NotConfiguredAfterWorkersWentOnWithALateWindow", "",
     "look 0; stop; add 1; others 30; others 39:59; has 1; others 40; gone"},
    {"MemoryRemovedWhileTheLoaderRuns", "",
     "look 0; add 0-499; look 10; add 500-999; lose 0; lose 1; add 1000-1009; look 11; has 0-1009; look "
     "19:59; has 0-1009; look 20; lacks 0-499"},
    {"MemoryRemovedWhileTheLoaderIsStopped", "",
     "look 0; add 0-499; look 10; add 500-999; stop; lose 1; start; look 11 seen_lost; has 0-499; lacks "
     "500-999; look 30:59 seen_lost; look 31:01 any; look 31:02"},
    {"RebootLosesWhatWasAddedSinceTheLastSave", "web1",
     "look 0; add 0-499; look 10; add 500-999; look 11; add 1000-1009; filters 2; reboot; start; look 12; "
     "has 0-999; lacks 1000-1009; filters 2; look 20; lacks 0-499"},
    {"StoreThatHasLostTheEndOfTheLog", "web1",
     "look 0; add 0-99; look 0:01; loses; add 100-199; look 0:01; keeps; add 200-299; look 0:01; look 0:02; "
     "saved "
     "500; look 0:03; saved 500; reboot; start; look 0:04; has 0-299"},
    {"RebootWhileTheStoreIsAway", "web1",
     "look 0; add 0-99; look 0:01; reboot; away; start; look 1 seen_missing; waits; back; look 1; has 0-99"},
    {"RebootAfterAWindowThatEndedLate", "web1",
     "look 0; stop; add 0-99; start; look 25; reboot; start; look 34; has 0-99; look 44; lacks 0-99"},
    {"RebootAfterAWindowThatWentOnWhileTheOtherBeganTheNext", "web1 web2",
     "look 0; web1 add 0-99; look 0:01; web1 no room; web1 look 11 any; web2 look 11; web2 add 500-509; web2 "
     "look 12; web1 add 100-149; web1 look 19 any; web1 room; web1 reboot; web1 start; web1 look 19:30; web1 "
     "look 28; web1 has 0-149; web1 has 500-509"},
    {"RebootAfterANewConfiguration", "web1 web2",
     "look 0; web2 add 0-99; web2 look 0:01; web1 add 100-199; web1 look 0:02; web1 keys 5000; web1 reboot; "
     "web1 start; web1 look 0:03; web1 has 0-199"},
    {"RebootAfterItsPredecessorEndedAndItNeverLooked", "web1",
     "look 0; stop; add 0-99; start; save; reboot; start; look 1; has 0-99"},
    {"StartAfterTheOldestMemoryWasRemoved", "web1",
     "look 0; add 0-499; look 10; add 500-999; look 10:01; lose 0; stop; start; look 11; has 0-999; look "
     "19:59; has 0-999; look 21; look 31; lacks 0-999"},
    {"StartAfterTheNewestMemoryWasRemoved", "web1",
     "look 0; add 0-499; look 10; add 500-999; look 10:01; lose 1; stop; start; look 11; has 0-999; look "
     "19:59; has 0-999; look 21; look 31; lacks 0-999"},
    {"StartAfterAllMemoryWasRemoved", "web1",
     "look 0; add 0-499; look 10; add 500-999; look 10:01; lose 0; lose 1; stop; start; look 11; has 0-999; "
     "look 19:59; has 0-999; look 21; look 31; lacks 0-999"},
    {"MemoryRemovedOfWhatIsSaved", "web1 web2",
     "look 0; web1 add 0-499; look 0:01; web1 add 500-599; web1 lose 0; web1 look 0:02; web1 saved 649; web2 "
     "look "
     "0:03; web2 has 0-599"},
    {"ClocksThatAreAheadOrBehind", "web1 hour minute early late",
     "web1 look 0; hour look -60; hour add 0-99; hour look -60:01; minute look -1; minute add 100-199; "
     "minute look "
     "-1:01; early look 1; early add 200-299; early look 1:01; late look 60; late add 300-399; late look "
     "60:01; web1 "
     "look 0:01; web1 lacks 0-99; web1 has 100-399; web1 add 1000-1009; web1 look 10; web1 look 20; web1 "
     "lacks "
     "1000-1009"},
    {"ClockOfOneThatIsAheadForAWhile", "web1 web2",
     "look 0; web1 add 0-499; look 0:01; look 0:01; web1 clock 60; web1 look 60:02; web1 add 500-509; web1 "
     "look 60:03; web1 clock -60; web1 look 0:04 seen_overdue; web2 look 0:04; look 19:59 any; has 0-509; "
     "look 30 "
     "any; web2 lacks 0-509; web1 look 120 any; web1 look 131; web1 lacks 0-509"},
    {"ClockOfOneThatIsBehindWhoseWindowLastsLonger", "web1 web2",
     "look 0; web2 clock -60; web1 look 10; web2 add 0-99; web2 look -45 any; web1 look 15; web1 look 20; "
     "web1 look 24:59; web1 has 0-99"},
    {"RebootAfterTheClockWasBehind", "web1",
     "look 0; clock -60; grow 0-3999 -45; clock 60; look 16; reboot; start; look 24:59 any; has 0-3999"},
    {"WindowsThatAStoppedLoaderHasMissed", "web1 web2",
     "windows 4; start; look 0; web1 stop; web2 look 10; web2 add 0-499; web2 look 20; web1 start; web1 look "
     "20; web1 has 0-499; web2 look 20:02; web2 has 0-499; web1 look 120 any; web1 look 180 any; web1 "
     "filters 2"},
    {"WindowsThatARebootedHostHasMissed", "web1 web2",
     "windows 4; start; look 0; web1 reboot; web2 look 10; web2 add 0-499; web2 look 20; web1 start; web1 "
     "look 20; web1 has 0-499"},
    {"WindowThatGrowsAtItsVeryEnd", "web1 web2",
     "look 0; web2 grow 0-2999 9:59; web1 look 10; web1 has 0-2999; web1 filters 3; web1 add 10000-10009; "
     "web1 look 20; web1 has 10000-10009; web1 look 30; web1 lacks 10000-10009"},
    {"WindowThatGrowsAfterANewConfigurationOfBoth", "web1 web2",
     "look 0; keys 5000; start; look 0:01; web2 grow 0-2999 0:02; web1 look 0:03; web1 has 0-2999"},
    {"FilterOfTheOtherThatFindsNoRoom", "web1 web2",
     "look 0; web1 no room; web2 grow 0-2999 0:02; web1 add 10000-10099; web1 look 0:03 seen_not_saved; web2 "
     "look 0:04; web2 has 10000-10099; web1 room; web1 look 0:05; web1 has 0-2999"},
    {"HostWithOtherFilters", "web1 web2 web3",
     "web3 keys 5000; web3 start; look 0; web3 add 1; web2 add 2; web3 look 0 any; web2 look 0 any; web1 "
     "look 0 seen_not_saved; web1 has 2; web1 add 1; web1 look 0:01 seen_not_saved; web2 look 0:01 any; web2 "
     "has 1; web1 look 9 seen_not_saved; web1 look 10"},
};

INSTANTIATE_TEST_SUITE_P(Rows, SeenHistories, ::testing::ValuesIn(kSeenRows),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace keysieve::test
