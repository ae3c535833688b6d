// Behaviour of logs in Redis only: they are streams that any client can append to.

#include "core/builder/base/log_positions.hpp"
#include "core/worker/base/clock.hpp"
#include "tests/support/canned_server.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/store_kinds.hpp"
#include "tools/stores/redis/redis_connection.hpp"

namespace keysieve::test {
namespace {

class RedisLog : public ::testing::Test {
 protected:
  RedisLog() { server_.command("FLUSHALL"); }

  std::vector<LogEntry> all() { return store_->read_after("log", kBeforeAll, 100); }

  RedisServer& server_ = shared_redis();
  std::unique_ptr<Store> store_ = open_store(patient(server_.tcp_url()));
};

TEST_F(RedisLog, IsRefusedWhenAServerSendsMoreThanWasAskedForOrTheSameAgain) {
  const std::string first = "*2\r\n$3\r\n1-1\r\n*0\r\n";
  const std::string second = "*2\r\n$3\r\n1-2\r\n*0\r\n";
  const auto read = [](const std::string& entries, std::size_t max_entries) {
    const CannedServer server("\r\n", "*2\r\n" + entries);
    return open_store("redis://" + server.address() + "?timeout=2m")
        ->read_after("log", kBeforeAll, max_entries);
  };
  EXPECT_EQ(failure_of([&] { read(first + second, 1); }), ErrorKind::Data);
  EXPECT_EQ(failure_of([&] { read(first + first, 3); }), ErrorKind::Data);
  EXPECT_EQ(failure_of([&] { read(second + first, 3); }), ErrorKind::Data);
}

TEST_F(RedisLog, TakesOneKeyOfAnEntryAndNamesTheFieldOfOneThatHasNone) {
  store_->mark("log");
  EXPECT_THAT(all(), IsEmpty());
  EXPECT_EQ(store_->facts_of("log").unknown_field, "");
  server_.command("DEL log");
  server_.command("XADD log 5-1 tag \xe7\x8c\xab keys x");
  server_.command("XADD log 6-1 by app key a key b");
  EXPECT_THAT(all(), ElementsAre(LogEntry{log_position(6, 1), "a"}));
  EXPECT_EQ(store_->facts_of("log").unknown_field, "tag");
  EXPECT_THAT(store_->read_after("log", log_position(5, 1), 9), SizeIs(1));
  EXPECT_EQ(store_->facts_of("log").unknown_field, "") << "of what was read then";
  server_.command("XADD log 7-1 " + std::string(1000, 'x') + " 1");
  EXPECT_THAT(all(), SizeIs(1));
  EXPECT_EQ(store_->facts_of("log").unknown_field, std::string(64, 'x'));
}

TEST_F(RedisLog, CountsAcrossEntriesThatDoNotCount) {
  append(*store_, {"a", "b"}, "log");
  server_.command("XADD log * key foreign");
  EXPECT_EQ(all().size(), 3U);
  const LogFacts facts = store_->facts_of("log");
  EXPECT_EQ(facts.count, 2U);
  EXPECT_EQ(facts.end, all().back().position);
  append(*store_, {"c"}, "log");
  all();
  EXPECT_EQ(store_->facts_of("log").count, 3U);
  EXPECT_EQ(store_->facts_of("log").begun, facts.begun);
  server_.command("DEL log");
  ASSERT_TRUE(
      eventually([&] { return unix_now_ms() > static_cast<std::int64_t>(milliseconds_of(facts.begun)); }));
  append(*store_, {"d"}, "log");
  all();
  EXPECT_EQ(store_->facts_of("log").count, 1U);
  EXPECT_GT(store_->facts_of("log").begun, facts.begun);
}

// Entries that other clients append cost a reader little: it goes back to what it has seen.
TEST_F(RedisLog, IsFollowedBehindManyEntriesThatDoNotCount) {
  append(*store_, {"a", "b"}, "log");
  server_.command("EVAL \"for i = 1, 1000 do redis.call('XADD', 'log', '*', 'key', 'x') end return 1\" 0");
  const auto last = [&] { return open_store(patient(server_.tcp_url()))->facts_of("log"); };
  EXPECT_EQ(last().count, 2U);
  server_.command("CONFIG RESETSTAT");
  const auto another = open_store(patient(server_.tcp_url()));
  another->facts_of("log");
  const auto looks = [&] { return calls_of(server_, "xrevrange"); };
  const LogPosition end = another->end_of("log");
  const int before = looks();
  another->read_after("log", end, 9);
  EXPECT_EQ(looks(), before + 1) << "what is known is still there";
  append(*store_, {"c"}, "log");
  EXPECT_EQ(last().count, 3U);
}

TEST_F(RedisLog, IsTrimmedToAMarkThatSaysWhatItHasHad) {
  append(*store_, {"a", "b"}, "log");
  const LogPosition end = store_->end_of("log");
  for (int i = 0; i < 2; ++i) {
    store_->trim("log", end);
    EXPECT_THAT(all(), IsEmpty());
    EXPECT_EQ(server_.command("XLEN log"), ":1");
    EXPECT_EQ(store_->facts_of("log").count, 2U);
  }
}

// In a script an error would lose its code.
TEST_F(RedisLog, RefusesWithTheReasonOfTheServer) {
  server_.command("ACL SETUSER adder on >s3cret ~* +eval +time +xrevrange");
  const auto adder = open_store(patient(server_.tcp_url("adder:s3cret@")));
  EXPECT_EQ(failure_of([&] { append(*adder, {"a"}, "log"); }), ErrorKind::Permission);
  server_.command("ACL SETUSER adder -xrevrange +xadd");
  EXPECT_EQ(failure_of([&] { append(*adder, {"a"}, "log"); }), ErrorKind::Permission);
  server_.command("CONFIG SET maxmemory 1");
  EXPECT_EQ(failure_of([&] { append(*store_, {"a"}, "log"); }), ErrorKind::CannotCreate);
  server_.command("CONFIG SET maxmemory 0");
  server_.command("ACL DELUSER adder");
}

TEST_F(RedisLog, IsOfAServerThatSaysWhatItsSettingsMayLose) {
  const RedisServer server({"--appendonly", "yes", "--appendfsync", "everysec"});
  const auto store = open_store(patient(server.tcp_url()));
  EXPECT_THAT(store->risks(true),
              ElementsAre(HasSubstr("appendfsync is everysec: a power failure may lose")));
  server.command("CONFIG SET appendfsync always");
  EXPECT_THAT(store->risks(true), IsEmpty());
  server.command("CONFIG SET maxmemory-policy allkeys-lru");
  EXPECT_THAT(store->risks(true), ElementsAre(HasSubstr("maxmemory-policy is allkeys-lru")));
  server.command("CONFIG SET appendonly no");
  EXPECT_THAT(store->risks(true),
              ElementsAre(HasSubstr("appendonly is no"), HasSubstr("maxmemory-policy is")));
  server.command("ACL SETUSER builder on >s3cret ~* +@all -config");
  EXPECT_THAT(open_store(patient(server.tcp_url("builder:s3cret@")))->risks(true), IsEmpty())
      << "it may not ask";
}

TEST_F(RedisLog, ReadsOnBehindTheLastNumberOfAMillisecond) {
  const auto last_number = ~std::uint64_t{0};
  server_.command("XADD log 5-18446744073709551615 key a");
  server_.command("XADD log 6-0 key b");
  EXPECT_THAT(store_->read_after("log", log_position(5, last_number), 9),
              ElementsAre(LogEntry{log_position(6, 0), "b"}));
  EXPECT_TRUE(store_->read_after("log", log_position(last_number, last_number), 9).empty());
}

// Many entries can exceed the limit as well as one, each of whose values is below it.
TEST_F(RedisLog, IsRefusedOnceAReplyExceedsTheLimit) {
  for (const auto& [entries, values] : {std::pair(1, 40), std::pair(40, 1)}) {
    server_.command("FLUSHALL");
    server_.command("EVAL \"local entry = {} for i = 1, " + std::to_string(values) +
                    " do entry[2 * i - 1] = 'key' entry[2 * i] = string.rep('x', 2097152) end for i = 1, " +
                    std::to_string(entries) +
                    " do redis.call('XADD', 'log', i .. '-0', unpack(entry)) end\" 0");
    const auto refused = HasSubstr("log: is larger than a record can be");
    EXPECT_EQ(failure_of([&] { all(); }), ErrorKind::Data) << entries;
    EXPECT_EQ(store_->get("other"), std::nullopt) << "the next command is answered";
    if (entries > 1) continue;
    EXPECT_EQ(failure_of([&] { store_->end_of("log"); }), ErrorKind::Data);
  }
  server_.command("FLUSHALL");
}

TEST_F(RedisLog, ReadsMoreEntriesThanOneReplyHolds) {
  const std::vector<std::string> large(70, std::string(1'000'000, 'x'));  // more than the limit in all
  const LogPosition last = store_->append("log", large);
  EXPECT_EQ(store_->read_after("log", kBeforeAll, 1000).size(), 70U);
  append(*store_, numbered("key", 300), "log");
  const auto some = store_->read_after("log", last, 130);
  ASSERT_EQ(some.size(), 130U);
  EXPECT_EQ(store_->read_after("log", some.back().position, 1000).size(), 170U);
  server_.command("FLUSHALL");
}

TEST_F(RedisLog, RefusesToListNamesThatAreTooLongForRecords) {
  server_.command(
      "EVAL \"for i = 1, 40 do redis.call('SET', 'a' .. i .. string.rep('x', 1000000), '') end\" 0");
  EXPECT_EQ(failure_of([&] { store_->keys_with_prefix("a"); }), ErrorKind::Data);
  server_.command("FLUSHALL");
}

TEST_F(RedisLog, IsNotARecord) {
  append(*store_, {"a"}, "log");
  server_.command("SET record 1");
  server_.command("SET log2 1");
  EXPECT_THAT(store_->keys_with_prefix("log"), ElementsAre("log2"));
  EXPECT_EQ(failure_of([&] { store_->get("log"); }), ErrorKind::Data);
  EXPECT_EQ(failure_of([&] { append(*store_, {"a"}, "record"); }), ErrorKind::Data);
  EXPECT_EQ(failure_of([&] { store_->read_after("record", kBeforeAll, 1); }), ErrorKind::Data);
  EXPECT_EQ(failure_of([&] { store_->end_of("record"); }), ErrorKind::Data);
}

// Behaviour of a watch in Redis only: it is a subscriber on its own connection.

class RedisWatch : public ::testing::Test {
 protected:
  std::unique_ptr<Store> open(const std::string& query = "") { return open_store(server_.tcp_url() + query); }

  RedisServer server_;
  std::unique_ptr<StoreWatch> watch_ = open()->watch();
};

TEST_F(RedisWatch, NamesWhatHasChanged) {
  append(*open(), {"a", "b"}, "keysieve:tags:adds");
  EXPECT_THAT(wait(*watch_), ElementsAre("keysieve:tags:adds"));
  const std::vector<std::string> chunks{"keysieve:tags:0:9", "keysieve:tags:0:10"};
  open()->put_many(records_of(chunks, "chunk"));
  open()->remove_many(chunks);
  open("?prefix=other")->put_if_absent({"other:seed", "1"});
  put(*open("/3"), "keysieve:bypass", "1");
  EXPECT_THAT(wait(*watch_), ElementsAre("keysieve:bypass"))
      << "names records of its own prefix, in every database, but no chunk";
}

TEST_F(RedisWatch, NamesAChangeOnceHoweverOftenItCame) {
  for (int i = 0; i < 1000; ++i) server_.command("PUBLISH keysieve:changes keysieve:tags:adds");
  EXPECT_THAT(wait(*watch_), ElementsAre("keysieve:tags:adds"));
}

TEST_F(RedisWatch, MissesTheChangesOfAUserWhoMayNotPublish) {
  server_.command("ACL SETUSER adder on >s3cret ~* &* +@all -publish");
  const auto adder = open_store(server_.tcp_url("adder:s3cret@"));
  append(*adder, {"a"});
  put(*adder, "keysieve:tags:current", "1");
  EXPECT_TRUE(adder->compare_and_set({"keysieve:tags:current", "2"}, "1"));
  EXPECT_THAT(keys_in(*open()), ElementsAre("a"));
  EXPECT_THAT(watch_->take(), IsEmpty());
  EXPECT_EQ(failure_of([&] {
              server_.command("ACL SETUSER adder -subscribe");
              adder->watch();
            }),
            ErrorKind::Permission);
}

TEST_F(RedisWatch, RefusesAMessageThatIsTooLong) {
  server_.command("EVAL \"redis.call('PUBLISH', 'keysieve:changes', string.rep('x', 100000))\" 0");
  EXPECT_EQ(failure_of([&] { EXPECT_TRUE(eventually([&] { return !watch_->take().empty(); })); }),
            ErrorKind::Data);
}

TEST_F(RedisWatch, NoticesThatTheServerIsGone) {
  server_.kill();
  ASSERT_TRUE(is_readable(*watch_));
  EXPECT_EQ(failure_of([&] { watch_->take(); }), ErrorKind::Unavailable);
}

}  // namespace
}  // namespace keysieve::test
