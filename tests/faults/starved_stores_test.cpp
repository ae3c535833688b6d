// Memory that runs out at each allocation of pushes, rollbacks, pulls and adds. Afterwards the
// same connection to the store goes on.
#include "tests/support/memory_faults.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/tools/transfer/shared_store.hpp"

namespace keysieve::test {
namespace {

// A part of some 100 to 2,600 allocations. Redis makes the most, and each try asks a server: fewer of those.
constexpr Tries kTries{.dense = 40, .stride = 29};
constexpr Tries kTriesWithServer{.dense = 8, .stride = 151};

class StarvedStore : public ::testing::TestWithParam<StoreKind> {
 protected:
  std::unique_ptr<Store> open() const { return GetParam().open(url_); }

  // With a database other than the first, if the store has several.
  [[nodiscard]] std::string url() const {
    const std::string empty = GetParam().empty_store(directory_);
    return empty.starts_with("redis+unix:") ? with_parameter(empty, "db=3") : empty;
  }
  [[nodiscard]] Tries tries() const { return url_.starts_with("redis") ? kTriesWithServer : kTries; }

  // What a change of a file has left behind.
  [[nodiscard]] std::ptrdiff_t unfinished_files() const {
    namespace fs = std::filesystem;
    return std::count_if(
        fs::recursive_directory_iterator(directory_.path()), fs::recursive_directory_iterator(),
        [](const fs::directory_entry& entry) { return entry.path().native().ends_with('~'); });
  }

  TemporaryDirectory directory_{fast_folder()};
  std::string url_ = url();
};

INSTANTIATE_TEST_SUITE_P(Stores, StarvedStore, ::testing::Values(kLmdb, kDir, kRedisUnix), store_kind_name);
#ifdef KEYSIEVE_REDIS_TLS
INSTANTIATE_TEST_SUITE_P(OverTls, StarvedStore, ::testing::Values(kRedisTls), store_kind_name);
#endif

BuildId pulled_from(Store& store) {
  return view_of(pull(store, "tags").snapshot).header().build_id;
}
BuildId build_id_of(std::size_t number) {
  return view_of(numbered_snapshot(number)).header().build_id;
}

TEST_P(StarvedStore, HoldsTheOldGenerationOrTheNewOneAfterAPush) {
  std::size_t current = 0;
  pushing(current)(*open());
  for_each_allocation(
      [&](std::uint64_t number, bool lasts) {
        const BuildId before = pulled_from(*open());
        const std::size_t next = (current + 1) % 3;
        std::unique_ptr<Store> store;
        const auto end = starve(number, lasts, [&] {
          store = open();
          pushing(next)(*store);
        });
        if (!store) store = open();
        const BuildId after = pulled_from(*store);
        EXPECT_TRUE(after == build_id_of(next) || (after == before && !end->is_done));
        expect_usable(*store, "after the fault");
        if (!end) return false;
        EXPECT_NO_THROW(pushing(current = (next + 1) % 3)(*store)) << "the next push does not go on";
        pushing(current, kMoreThanADay)(*store);  // removes what the record lists of interrupted pushes
        return true;
      },
      tries());
  const auto store = open();
  expect_nothing_else_after_a_day(*store, "at the end");
}

TEST_P(StarvedStore, HoldsWholeGenerationsAfterARollbackAndAPushOfTheNextDay) {
  for (std::size_t number = 0; number < 3; ++number) pushing(number)(*open());
  for_each_allocation(
      [&](std::uint64_t number, bool lasts) {
        std::unique_ptr<Store> store;
        const auto end = starve(number, lasts, [&] {
          store = open();
          rolling_back()(*store);
          pushing_a_day_later()(*store);
        });
        if (!store) store = open();
        expect_usable(*store, "after the fault");
        pushing(number % 3, 2 * kMoreThanADay)(*store);  // removes what the one before has left
        return end.has_value();
      },
      tries());
  expect_nothing_else_after_a_day(*open(), "at the end");
}

TEST_P(StarvedStore, GivesTheWholeSnapshotOrNothing) {
  pushing(0)(*open());
  std::unique_ptr<Store> store = open();
  for_each_allocation(
      [&](std::uint64_t number, bool lasts) {
        std::optional<Pulled> got;
        const auto end = starve(number, lasts, [&] { got.emplace(pull(*store, "tags")); });
        EXPECT_TRUE(!got || are_same(got->snapshot, numbered_snapshot(0)));
        EXPECT_EQ(pulled_from(*store), build_id_of(0)) << "the connection does not go on";
        return end.has_value();
      },
      tries());
}

TEST_P(StarvedStore, HasEachAddThatItHasConfirmed) {
  const std::string log = "keysieve:tags:adds";
  std::unique_ptr<Store> store = open();
  for_each_allocation(
      [&](std::uint64_t number, bool lasts) {
        const std::string key = "key" + std::to_string(number) + (lasts ? "lasts" : "");
        const LogPosition before = store->end_of(log);
        std::vector<LogEntry> read;
        const auto end = starve(number, lasts, [&] {
          store->append(log, {&key, 1});
          read = store->read_after(log, before, 10);
        });
        const std::vector<LogEntry> found = store->read_after(log, before, 10);
        EXPECT_EQ(read.size(), !end || end->is_done ? 1U : 0U);
        EXPECT_LE(found.size(), 1U);
        for (const LogEntry& entry : found) EXPECT_EQ(entry.key, key);
        EXPECT_TRUE(read.empty() || found.size() == 1);
        store->append(log, {&key, 1});
        EXPECT_EQ(store->read_after(log, before, 10).size(), found.size() + 1) << "the log does not go on";
        return end.has_value();
      },
      tries());
}

TEST_P(StarvedStore, KeepsWhatIsAboveATrim) {
  const std::string log = "keysieve:tags:adds";
  const std::vector<std::string> keys{"trimmed", "kept"};
  std::unique_ptr<Store> store = open();
  for_each_allocation(
      [&](std::uint64_t number, bool lasts) {
        store->append(log, keys);
        const std::vector<LogEntry> before = store->read_after(log, kBeforeAll, 10);
        const auto end = starve(number, lasts, [&] { store->trim(log, before.front().position); });
        const std::vector<LogEntry> after = store->read_after(log, kBeforeAll, 10);
        EXPECT_TRUE(after.size() == before.size() - 1 ||
                    (end && !end->is_done && after.size() == before.size()));
        EXPECT_EQ(after.back().position, before.back().position);
        EXPECT_EQ(unfinished_files(), 0);
        store->trim(log, store->end_of(log));
        return end.has_value();
      },
      tries());
}

}  // namespace
}  // namespace keysieve::test
