// Memory that runs out at each allocation of a build, of a publish, and of a reader that attaches.

#include "tests/core/kind_ids.hpp"
#include "tests/core/seen/seen_sets.hpp"
#include "tests/core/shm/live_layer.hpp"
#include "tests/faults/published_generations.hpp"
#include "tests/support/memory_faults.hpp"

namespace keysieve::test {
namespace {

// Where the C library runs out of memory, the error says so.
bool is_rightly_ended(const StarvedEnd& end) {
  return end.is_done || end.is_out_of_memory || end.message.ends_with("Cannot allocate memory");
}

class StarvedBuild : public ::testing::TestWithParam<std::uint8_t> {
 protected:
  // With known-absent keys where the kind can have them, through temporary files, and by two threads.
  [[nodiscard]] SnapshotBytes built() const {
    BuildSettings settings{.set_name = "tags", .kind = find_filter_kind(GetParam()), .as_of = kAsOf};
    settings.has_known_absent = true;
    SnapshotBuilder builder(settings, {.threads = 2, .temporary_folder = folder_.path()});
    for (const std::string& key : keys_) builder.add(key);
    for (const std::string& key : absent_) {
      const std::string_view given = key;
      builder.add_known_absent(0, {&given, 1});
    }
    return builder.finish();
  }

  TemporaryDirectory folder_{fast_folder()};
  std::vector<std::string> keys_ = numbered_keys("key", 300);
  std::vector<std::string> absent_ = numbered_keys("absent", 100);
};

INSTANTIATE_TEST_SUITE_P(Kinds, StarvedBuild, every_kind_id(), name_of_kind);

TEST_P(StarvedBuild, EndsWithBadAllocOrTheWholeSnapshot) {
  for_each_allocation(
      [&](std::uint64_t number, bool lasts) {
        std::optional<SnapshotBytes> snapshot;
        const auto end = starve(number, lasts, [&] { snapshot.emplace(built()); });
        if (!end) return false;
        EXPECT_TRUE(is_rightly_ended(*end)) << end->message;
        EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
        if (!end->is_done) return true;
        const SnapshotView view = decode(*snapshot);
        EXPECT_EQ(view.header().key_count, keys_.size());
        for (const std::string& key : keys_) EXPECT_TRUE(may_contain(view, key));
        return true;
      },
      {.dense = 30, .stride = 19});  // of some 330: all take minutes
}

using StarvedPublish = PublishedGenerations;

// Again, or for the first time.
TEST_F(StarvedPublish, LeavesTheOldPublicationOrTheNewOne) {
  for (const bool is_first : {false, true}) {
    publish_generation(1);
    SetReader worker = reader();
    for_each_allocation([&](std::uint64_t number, bool lasts) {
      if (is_first) std::filesystem::remove_all(folder());
      const auto before = served();
      const std::uint64_t next = before.value_or(0) + 1;
      const auto end = starve(number, lasts, [&] { publish_generation(next); });
      if (!end) return false;
      EXPECT_TRUE(is_rightly_ended(*end)) << end->message;
      EXPECT_EQ(served(), end->is_done ? next : before);
      worker.check_soon();
      EXPECT_TRUE(is_first || served_to(worker) == served());
      publish_generation(next + 1);
      EXPECT_EQ(served(), next + 1) << "the next publisher does not go on";
      EXPECT_LE(file_names().size(), 6U);
      return true;
    });
  }
}

class StarvedReader : public PublishedGenerations {
 protected:
  // A call of the reader that meets exhausted memory answers maybe, or from a publication that is right for
  // a process that begins now or, if `may_be_old`, from the one that it had. The next call is as new.
  void expect_maybe_then_new(const std::function<void(SetReader&)>& change, bool may_be_old,
                             bool has_attached = true) {
    publish_generation(1);
    for_each_allocation([&](std::uint64_t number, bool lasts) {
      SetReader worker = reader();
      const std::optional<std::uint64_t> before = has_attached ? served_to(worker) : std::nullopt;
      change(worker);
      const auto end = starve(number, lasts, [&] { static_cast<void>(worker.follow()); });
      if (!end) return false;
      EXPECT_TRUE(end->is_done) << end->message;
      const Attachment* serving = worker.serving();
      EXPECT_TRUE(serving == nullptr || generations_.answers_rightly(*serving));
      if (serving != nullptr && !(may_be_old && serving->live().generation == before)) {
        EXPECT_EQ(serving->live().generation, served());
      }
      EXPECT_EQ(served_to(worker), served()) << worker.reason();
      return true;
    });
  }
};

TEST_F(StarvedReader, FollowsTheNextPublication) {
  std::uint64_t generation = 1;
  expect_maybe_then_new([&](SetReader&) { publish_generation(++generation); }, true);
}

TEST_F(StarvedReader, NeverAnswersFromAFolderThatWasReplacedByAnotherThatItMayBeUnableToUse) {
  std::uint64_t generation = 1;
  for (const bool is_damaged : {false, true}) {
    expect_maybe_then_new(
        [&](SetReader& worker) {
          std::filesystem::remove_all(folder());
          publish_generation(++generation);
          if (is_damaged) change_byte(file("control"), 0);
          worker.check_soon();
        },
        false);
  }
}

// A copy has the same numbers but other files, and only those get all later keys.
class StarvedReaderOfACopy : public LiveLayers {
 protected:
  StarvedReaderOfACopy() : LiveLayers(fast_folder()) {}
};

TEST_F(StarvedReaderOfACopy, KnowsWhatWasAddedToTheCopy) {
  publish_with(empty_layer());
  for_each_allocation([&](std::uint64_t number, bool lasts) {
    SetReader worker = reader();
    worker.follow();
    std::filesystem::remove_all(folder() + ".away");
    std::filesystem::rename(folder(), folder() + ".away");
    std::filesystem::copy(folder() + ".away", folder());
    const std::string key = "added" + std::to_string(number) + (lasts ? "lasts" : "");
    publisher().open_layer()->add(hash(key));
    worker.check_soon();
    const auto end = starve(number, lasts, [&] { static_cast<void>(worker.follow()); });
    if (!end) return false;
    EXPECT_TRUE(worker.serving() == nullptr || worker.serving()->may_contain(hash(key)));
    EXPECT_TRUE(may_contain(worker, key));
    EXPECT_NE(worker.follow(), nullptr) << worker.reason();
    return true;
  });
}

TEST_F(StarvedReader, AttachesLater) {
  expect_maybe_then_new([](SetReader&) {}, false, false);
}

class StarvedSeenReader : public SeenSets {
 protected:
  // A worker whose call meets exhausted memory is not ready, or knows what was seen. The next call is as new.
  void expect_unready_then_right(const std::function<void(SeenReader&)>& change, bool is_there) {
    for_each_allocation([&](std::uint64_t number, bool lasts) {
      SeenReader worker = reader();
      change(worker);
      const auto end = starve(number, lasts, [&] { worker.follow(); });
      if (!end) return false;
      EXPECT_TRUE(end->is_done) << end->message;
      EXPECT_TRUE(!worker.is_ready() || worker.may_contain(kSeen));
      EXPECT_EQ(was_seen(worker, kSeen), is_there) << worker.reason();
      return true;
    });
  }

  const KeyHash kSeen = numbered_hash(1);
};

TEST_F(StarvedSeenReader, AttachesLater) {
  SeenWriter loader = started_writer();
  SeenReader other = reader();
  ASSERT_TRUE(is_new(other, kSeen));
  expect_unready_then_right([](SeenReader&) {}, true);
}

TEST_F(StarvedSeenReader, FollowsTheNextFilter) {
  std::optional<SeenWriter> loader;
  expect_unready_then_right(
      [&](SeenReader& worker) {
        loader.reset();
        loader.emplace(new_writer({plan()}));
        ASSERT_TRUE(is_new(worker, kSeen));
        append(*loader, {plan(kForever, 1)});
      },
      true);
}

TEST_F(StarvedSeenReader, IsMissingWhereThereIsNone) {
  expect_unready_then_right([](SeenReader&) {}, false);
}

}  // namespace
}  // namespace keysieve::test
