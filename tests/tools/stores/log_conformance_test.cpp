// Rules for every store that carries logs, and for every store that can list its records.

#include <algorithm>
#include <map>
#include <numeric>

#include "core/builder/base/log_positions.hpp"
#include "core/worker/base/clock.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/store_kinds.hpp"

namespace keysieve::test {
namespace {

constexpr std::size_t kPlenty = 100'000;

bool only_rises(const std::vector<LogEntry>& entries) {
  return std::adjacent_find(entries.begin(), entries.end(), [](const LogEntry& one, const LogEntry& next) {
           return one.position >= next.position;
         }) == entries.end();
}

class LogConformance : public StoreConformance {};

INSTANTIATE_TEST_SUITE_P(Stores, LogConformance, ::testing::ValuesIn(stores_that({.log = true})),
                         store_kind_name);

TEST_P(LogConformance, GivesBackEntriesInOrderAfterItWasClosedToo) {
  const auto store = open();
  EXPECT_EQ(append(*store, {}), kBeforeAll);
  EXPECT_EQ(store->end_of(kLog), kBeforeAll);
  EXPECT_THAT(keys_in(*store), IsEmpty());
  store->trim(kLog, log_position(~std::uint64_t{0}, 0));
  EXPECT_EQ(store->end_of(kLog), kBeforeAll);
  append(*store, {"c", "a"});
  const LogPosition last = append(*open(), {"b"});
  EXPECT_EQ(append(*store, {}), last);
  const auto entries = open()->read_after(kLog, kBeforeAll, kPlenty);
  EXPECT_THAT(keys_of(entries), ElementsAre("c", "a", "b"));
  EXPECT_TRUE(only_rises(entries));
  EXPECT_EQ(entries.back().position, last);
  EXPECT_EQ(open()->end_of(kLog), last);
}

TEST_P(LogConformance, SaysWhenItWasBegunAndHowManyKeysItEverHad) {
  const auto store = open();
  const auto facts = [&] {
    store->read_after(kLog, kBeforeAll, kPlenty);
    return store->facts_of(kLog);
  };
  EXPECT_EQ(facts().begun, kBeforeAll) << "there is none";
  store->mark(kLog);
  const LogPosition begun = facts().begun;
  EXPECT_NE(begun, kBeforeAll);
  EXPECT_EQ(facts().count, 0U);
  EXPECT_THAT(keys_in(*store), IsEmpty());
  const LogPosition end = append(*store, {"a", "b"});
  EXPECT_EQ(facts().begun, begun);
  EXPECT_LE(begun, end);
  EXPECT_EQ(facts().count, 2U);
  EXPECT_EQ(facts().end, end);
  store->trim(kLog, end);
  EXPECT_EQ(facts().begun, begun);
  EXPECT_EQ(facts().count, 2U) << "of which none is left";
  append(*open(), {"c"});
  EXPECT_EQ(facts().begun, begun);
  EXPECT_EQ(facts().count, 3U);
  const LogPosition before = facts().end;
  store->mark(kLog);
  EXPECT_GT(facts().end, before);
  EXPECT_EQ(facts().count, 3U);
  EXPECT_EQ(open()->facts_of(kLog).begun, begun) << "also without a read before";
}

TEST_P(LogConformance, GivesEachKeyItsOrdinal) {
  const auto store = open();
  append(*store, {"a", "b"});
  store->mark(kLog);
  const LogPosition third = append(*open(), {"c"});
  append(*store, {"d"});
  using Ordinals = std::map<std::string, std::uint64_t>;
  const auto ordinals = [&](const LogPosition& after) {
    Ordinals found;
    for (const LogEntry& entry : open()->read_after(kLog, after, kPlenty)) found[entry.key] = entry.ordinal;
    return found;
  };
  EXPECT_EQ(ordinals(kBeforeAll), (Ordinals{{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}}));
  EXPECT_EQ(ordinals(third), (Ordinals{{"d", 4}}));
  store->trim(kLog, position_before(third));
  EXPECT_EQ(ordinals(kBeforeAll), (Ordinals{{"c", 3}, {"d", 4}}));
}

TEST_P(LogConformance, TakesPositionsFromTheClock) {
  const auto before = static_cast<std::uint64_t>(unix_now_ms());
  const LogPosition position = append(*open(), {"a"});
  const auto after = static_cast<std::uint64_t>(unix_now_ms());
  EXPECT_GE(milliseconds_of(position), before);
  EXPECT_LE(milliseconds_of(position), after);
}

TEST_P(LogConformance, ReadsNoMoreThanAskedFor) {
  const auto store = open();
  const auto keys = numbered("key", 25);
  append(*store, keys);
  std::vector<std::string> read;
  LogPosition seen{};
  for (const std::size_t expected : {10U, 10U, 5U, 0U}) {
    const auto entries = store->read_after(kLog, seen, 10);
    EXPECT_EQ(entries.size(), expected);
    for (const std::string& key : keys_of(entries)) read.push_back(key);
    if (!entries.empty()) seen = entries.back().position;
  }
  EXPECT_EQ(read, keys);
  const LogPosition between = log_position(milliseconds_of(seen) + 1'000'000, 7);
  EXPECT_THAT(store->read_after(kLog, between, kPlenty), IsEmpty()) << "a position that no entry has";
  EXPECT_THAT(keys_of(store->read_after(kLog, kBeforeAll, 1)), ElementsAre("key0")) << "and back again";
}

TEST_P(LogConformance, CarriesManyEntriesAtOnce) {
  const auto keys = numbered("a key of some length ", 30'000);
  const auto store = open();
  const LogPosition last = append(*store, keys);
  const auto entries = open()->read_after(kLog, kBeforeAll, kPlenty);
  EXPECT_TRUE(keys_of(entries) == keys);
  EXPECT_TRUE(only_rises(entries));
  EXPECT_EQ(entries.back().position, last);
}

TEST_P(LogConformance, KeepsAnyByteOfAKeyUpToOneMiB) {
  std::string all_bytes(256, '\0');
  std::iota(all_bytes.begin(), all_bytes.end(), '\0');
  const std::vector<std::string> keys{"", all_bytes, std::string(kMaxLoggedKeyBytes, '\xff'),
                                      std::string(1, '\0'), "猫"};
  const auto store = open();
  append(*store, keys);
  EXPECT_TRUE(keys_in(*store) == keys);
}

TEST_P(LogConformance, RefusesKeysThatAreTooLong) {
  const auto store = open();
  const std::string too_long(kMaxLoggedKeyBytes + 1, 'x');
  EXPECT_EQ(failure_of([&] { append(*store, {"kept out too", too_long}); }), ErrorKind::Usage);
  EXPECT_EQ(store->end_of(kLog), kBeforeAll);
}

TEST_P(LogConformance, KeepsLogsApart) {
  const auto store = open();
  const std::vector<std::string> names{
      "a", "a:", "a:b", "A", ".", "a.", std::string(kMaxRecordKeyBytes, 'a')};
  for (const std::string& name : names) append(*store, {"of " + name}, name);
  for (const std::string& name : names) EXPECT_THAT(keys_in(*store, name), ElementsAre("of " + name));
  store->trim("a", store->end_of("a"));
  EXPECT_THAT(keys_in(*store, "a"), IsEmpty());
  EXPECT_THAT(keys_in(*store, "a:"), ElementsAre("of a:"));
}

TEST_P(LogConformance, TrimsUpToAPositionAndItself) {
  const auto store = open();
  append(*store, {"a", "b"});
  const LogPosition up_to = append(*store, {"c"});
  const LogPosition last = append(*store, {"d", "e"});
  store->trim(kLog, kBeforeAll);
  EXPECT_THAT(keys_in(*store), ElementsAre("a", "b", "c", "d", "e"));
  store->trim(kLog, up_to);
  EXPECT_THAT(keys_in(*store), ElementsAre("d", "e"));
  EXPECT_THAT(keys_in(*open()), ElementsAre("d", "e"));
  EXPECT_EQ(store->end_of(kLog), last);
}

TEST_P(LogConformance, RemembersItsEndWhenAllIsTrimmed) {
  const auto store = open();
  const LogPosition last = append(*store, {"a", "b"});
  const LogPosition far = log_position(milliseconds_of(last) + 86'400'000, 0);
  for (int i = 0; i < 2; ++i) store->trim(kLog, far);
  EXPECT_THAT(keys_in(*store), IsEmpty());
  for (const LogPosition& end : {store->end_of(kLog), open()->end_of(kLog)}) {
    EXPECT_GE(end, last);
    EXPECT_LT(end, far) << "the last position given out, not the one trimmed up to";
  }
  EXPECT_GT(append(*store, {"c"}), last);
  EXPECT_THAT(keys_in(*store), ElementsAre("c"));
  EXPECT_THAT(keys_of(store->read_after(kLog, last, kPlenty)), ElementsAre("c"));
}

TEST_P(LogConformance, TrimsThousandsInTheMiddleOfARead) {
  const auto writer = open();
  const auto reader = open();
  append(*writer, numbered("old", 8'000));
  const LogPosition up_to = writer->end_of(kLog);
  append(*writer, numbered("new", 8'000));
  const auto begun = reader->read_after(kLog, kBeforeAll, 100);
  writer->trim(kLog, up_to);
  EXPECT_TRUE(keys_of(reader->read_after(kLog, begun.back().position, kPlenty)) == numbered("new", 8'000));
}

void append_numbered(const StoreKind& kind, const std::string& url, const std::string& name, int count) {
  const auto store = kind.open(url);
  LogPosition last{};
  for (int i = 0; i < count; i += 2) {
    const std::vector<std::string> keys{name + std::to_string(i), name + std::to_string(i + 1)};
    const LogPosition position = store->append(kLog, keys);
    if (position <= last) throw Error(ErrorKind::Data, "a position did not rise");
    last = position;
  }
}

std::vector<std::string> all_writers_keys(int writers, int count) {
  std::vector<std::string> all;
  for (int writer = 0; writer < writers; ++writer) {
    for (std::string& key : numbered(std::to_string(writer) + ":", count)) all.push_back(std::move(key));
  }
  return all;
}

// It never sees an entry that it once passed over.
TEST_P(LogConformance, HidesNoEntryOfRacingProcessesFromAFollowerThatTrims) {
  const auto expected = all_writers_keys(3, 30);
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    children.push_back(start_process([&, i] {
      append_numbered(GetParam(), url_, std::to_string(i) + ":", 30);
      return 0;
    }));
  }
  const auto store = open();
  const auto trimmer = open();
  std::vector<LogEntry> seen{{}};
  EXPECT_TRUE(eventually([&] {
    for (LogEntry& entry : store->read_after(kLog, seen.back().position, 7)) seen.push_back(std::move(entry));
    trimmer->trim(kLog, seen.back().position);
    return seen.size() > expected.size();
  }));
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  EXPECT_TRUE(only_rises(seen));
  EXPECT_GE(store->end_of(kLog), seen.back().position);
  seen.erase(seen.begin());
  EXPECT_THAT(keys_of(seen), UnorderedElementsAreArray(expected));
}

class ListConformance : public StoreConformance {};

INSTANTIATE_TEST_SUITE_P(Stores, ListConformance, ::testing::ValuesIn(stores_that({.list = true})),
                         store_kind_name);

TEST_P(ListConformance, ListsTheRecordsThatBeginWithAPrefix) {
  const auto store = open();
  for (const char* key : {"keysieve:tags:current", "keysieve:tags", "keysieve:tags2:current", "keysieve:seed",
                          "other", ".lock", "a%b"}) {
    put(*store, key, "1");
  }
  EXPECT_THAT(store->keys_with_prefix("keysieve:tags:"), UnorderedElementsAre("keysieve:tags:current"));
  EXPECT_THAT(store->keys_with_prefix("keysieve:tags"),
              UnorderedElementsAre("keysieve:tags", "keysieve:tags:current", "keysieve:tags2:current"));
  EXPECT_THAT(store->keys_with_prefix("nothing"), IsEmpty());
  EXPECT_THAT(store->keys_with_prefix("."), UnorderedElementsAre(".lock"));
  EXPECT_EQ(store->keys_with_prefix("").size(), 7U);
}

TEST_P(ListConformance, TreatsNoByteOfAPrefixAsAPattern) {
  const auto store = open();
  for (const char* key : {"a.b", "axb", "a-b"}) put(*store, key, "1");
  EXPECT_THAT(store->keys_with_prefix("a."), UnorderedElementsAre("a.b"));
}

TEST_P(ListConformance, ListsNeitherLogsNorRemovedRecords) {
  const auto store = open();
  append(*store, {"a"});
  append(*store, {"a"}, "keysieve");
  put(*store, "keysieve:tags:current", "{}");
  put(*store, "keysieve:tags:0", "chunk");
  remove_record(*store, "keysieve:tags:0");
  EXPECT_THAT(store->keys_with_prefix("keysieve"), ElementsAre("keysieve:tags:current"));
  EXPECT_THAT(store->keys_with_prefix(""), ElementsAre("keysieve:tags:current"));
}

TEST_P(ListConformance, ListsMoreThanAThousandRecords) {
  const auto store = open();
  const auto expected = numbered("keysieve:tags:0123:", 1'200);
  store->put_many(records_of(expected, "chunk"));
  put(*store, "keysieve:tags:0124:0", "of another build");
  EXPECT_THAT(store->keys_with_prefix("keysieve:tags:0123:"), UnorderedElementsAreArray(expected));
}

}  // namespace
}  // namespace keysieve::test
