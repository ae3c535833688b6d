// What is particular to memcached: it evicts, it restarts empty, and it may be several servers.

#include "tests/support/canned_server.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/memcached_server.hpp"
#include "tests/support/relay.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/store_kinds.hpp"

namespace keysieve::test {
namespace {

std::string long_value() {
  return std::string(kMaxValueBytes, 'x');
}

TEST(MemcachedStore, IsOneOfThoseThatMayForget) {
  EXPECT_EQ(abilities_of("memcached://cache"), (StoreAbilities{.write = true, .compare_and_set = true}));
}

TEST(MemcachedStore, SaysWhatItCannotDo) {
  const auto store = open_store(shared_memcached().url());
  EXPECT_EQ(failure_of([&] { append(*store, {"a"}); }), ErrorKind::Usage);
  EXPECT_EQ(failure_of([&] { store->keys_with_prefix("keysieve:"); }), ErrorKind::Usage);
  EXPECT_EQ(store->end_of(kLog), kBeforeAll);
  EXPECT_THAT(keys_in(*store), IsEmpty());
}

TEST(MemcachedStore, SpreadsRecordsOverItsServers) {
  MemcachedPair& pair = shared_memcached_pair();
  pair.flush();
  const auto keys = numbered("keysieve:tags:", 64);
  open_store(patient(pair.url()))->put_many(records_of(keys, "x"));
  EXPECT_GT(pair.first.statistic("curr_items"), 8U);
  EXPECT_GT(pair.second.statistic("curr_items"), 8U);
  const auto other_way_round = open_store(patient(pair.second.url() + "," + pair.first.address()));
  EXPECT_THAT(other_way_round->get_many(keys), Each(Optional(std::string("x"))));
}

TEST(MemcachedStore, FindsNothingMissingWhileAServerIsAway) {
  MemcachedPair pair;
  const auto store = open_store(patient(pair.url()));
  const auto keys = numbered("keysieve:tags:", 64);
  store->put_many(records_of(keys, "x"));
  pair.second.kill();
  EXPECT_EQ(failure_of([&] { store->get_many(keys); }), ErrorKind::Unavailable);
  for (const std::string& key : keys) {
    try {
      EXPECT_EQ(store->get(key), "x");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Unavailable);
    }
  }
  pair.second.start();
  EXPECT_THAT(store->get_many(keys), Contains(std::nullopt)) << "it is back, and empty";
}

TEST(MemcachedStore, TakesNoSilenceForAnAnswer) {
  const MemcachedServer server;
  const auto store = open_store(with_parameter(server.url(), "timeout=200ms"));
  when_available([&] {
    put(*store, "keysieve:seed", "x");
    return true;
  });
  server.process().stall();
  const std::vector<std::string> keys{"keysieve:seed", "keysieve:bypass"};
  EXPECT_EQ(failure_of([&] { store->get("keysieve:seed"); }), ErrorKind::Unavailable);
  EXPECT_EQ(failure_of([&] { store->get_many(keys); }), ErrorKind::Unavailable);
  EXPECT_EQ(failure_of([&] { put(*store, "keysieve:seed", "y"); }), ErrorKind::Unavailable);
  EXPECT_EQ(failure_of([&] { store->compare_and_set({"keysieve:seed", "y"}, "x"); }), ErrorKind::Unavailable);
  EXPECT_EQ(failure_of([&] { remove_record(*store, "keysieve:seed"); }), ErrorKind::Unavailable);
  server.process().resume();
  when_available([&] {
    put(*store, "keysieve:seed", "z");
    return true;
  });
  EXPECT_EQ(when_available([&] { return store->get("keysieve:seed"); }), "z");
}

TEST(MemcachedStore, TakesNoCutReplyForAnAnswer) {
  const MemcachedServer server;
  const std::vector<std::string> keys{"keysieve:a", "keysieve:b", "keysieve:c"};
  open_store(patient(server.url()))->put_many(records_of(keys, long_value()));
  const TemporaryDirectory directory;
  for (const std::uint64_t bytes : {30U, 60U, 100U, 1'000U, 65'700U, 131'200U, 196'608U}) {
    const Relay relay(directory / "relay", server.socket_path(), RelayCut{bytes, RelayCut::How::HangUp});
    const auto store = open_store("memcached+unix://" + directory / "relay?timeout=2m");
    EXPECT_EQ(failure_of([&] { store->get_many(keys); }), ErrorKind::Unavailable) << bytes;
  }
}

// Nor memory for a value that is larger than any record.
TEST(MemcachedStore, TakesNoErrorForAMissingRecord) {
  for (const std::string reply :
       {"SERVER_ERROR temporary failure\r\n", "SERVER_ERROR out of memory writing get response\r\n",
        "ERROR\r\n", "CLIENT_ERROR bad command line format\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n",
        "VALUE another 0 4\r\n\n\n\n\n\r\nEND\r\n", "VALUE keysieve:seed 0 9999999999\r\nx",
        "VALUE keysieve:seed 0 5\r\nx\n\n\n\n\r\n", "VALUE keysieve:seed 0 5\r\nx\n\n\n\n\r\nERROR\r\n",
        "VALUE keysieve:seed 0 5\r\nx\n\n\n\n\r\nVALUE keysieve:seed 0 5\r\nx\n\n\n\n\r\nEND\r\n", ""}) {
    const CannedServer server("\r\n", reply);
    const auto store = open_store("memcached://" + server.address() + "?timeout=2m");
    EXPECT_EQ(failure_of([&] { store->get("keysieve:seed"); }), ErrorKind::Unavailable) << reply;
    EXPECT_EQ(failure_of([&] { store->get_many(numbered("keysieve:", 3)); }), ErrorKind::Unavailable)
        << reply;
    EXPECT_EQ(failure_of([&] {
                store->compare_and_set({"keysieve:seed", "y"}, "x");
              }),
              ErrorKind::Unavailable)
        << reply;
  }
}

TEST(MemcachedStore, SaysThatAServerWithoutEvictionIsFull) {
  const MemcachedServer server({"-m", "2", "-M"});
  const auto store = open_store(patient(server.url()));
  EXPECT_EQ(failure_of([&] {
              for (const std::string& key : numbered("keysieve:", 1'000)) put(*store, key, long_value());
            }),
            ErrorKind::CannotCreate);
}

TEST(MemcachedStore, DeniesASwapAfterTheRecordWasEvicted) {
  const auto store = open_store(patient(shared_memcached().url()));
  put(*store, "keysieve:a", "1");
  shared_memcached().flush();
  EXPECT_FALSE(store->compare_and_set({"keysieve:a", "2"}, "1"));
  EXPECT_TRUE(store->compare_and_set({"keysieve:a", "2"}, std::nullopt));
}

// It would take every swap.
TEST(MemcachedStore, RefusesASwapByAServerThatKeepsNoCas) {
  const MemcachedServer server({"-C"});
  const auto store = open_store(patient(server.url()));
  EXPECT_TRUE(store->put_if_absent({"keysieve:a", "1"}));
  EXPECT_EQ(failure_of([&] { store->compare_and_set({"keysieve:a", "2"}, "1"); }), ErrorKind::Unavailable);
  EXPECT_EQ(store->get("keysieve:a"), "1");
}

}  // namespace
}  // namespace keysieve::test
