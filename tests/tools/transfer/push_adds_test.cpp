// What push does with the adds log.
#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/tools/transfer/push_fixture.hpp"
#include "tests/tools/transfer/store_decorator.hpp"
#include "tools/transfer/adds_log.hpp"

namespace keysieve {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PushAndAdds : public test::PushFixture {
 protected:
  PushAndAdds() {
    for (const std::string key : {"a", "b", "c", "d", "e"}) {
      positions_.push_back(store_->append(log_, std::span(&key, 1)));
    }
  }

  // A snapshot whose keys hold what was added up to here, and before.
  SnapshotBytes built_at(const LogPosition& adds_from, std::uint64_t keys = 1000) {
    return test::build_snapshot({.keys = keys, .adds_from = adds_from});
  }

  [[nodiscard]] std::vector<std::string> logged_keys() const {
    std::vector<std::string> keys;
    for (const LogEntry& entry : store_->read_after(log_, {}, 100)) keys.push_back(entry.key.value_or("-"));
    return keys;
  }

  std::string log_ = "keysieve:tags:adds";
  std::vector<LogPosition> positions_;
};

TEST_F(PushAndAdds, KeepsTheEntriesThatAnyKeptGenerationNeeds) {
  for (const std::size_t i : {0U, 1U, 2U}) push(built_at(positions_[i]));
  EXPECT_THAT(logged_keys(), ElementsAre("b", "c", "d", "e")) << "generation 1 has all up to a";
  EXPECT_EQ(pointer().adds_trimmed_to, positions_[0]);
  push(built_at(positions_[4]));
  EXPECT_THAT(logged_keys(), ElementsAre("c", "d", "e")) << "generation 2 has all up to b";
  EXPECT_EQ(current().adds_from, positions_[4]);
}

TEST_F(PushAndAdds, KeepsAllEntriesForAGenerationThatWasBuiltWithoutALookAtTheLog) {
  EXPECT_THAT(push(built_at({})).warnings, ElementsAre(HasSubstr("build with --like URL")));
  EXPECT_THAT(push(built_at(positions_[4])).warnings, IsEmpty());
  EXPECT_THAT(logged_keys(), ElementsAre("a", "b", "c", "d", "e"));
}

TEST_F(PushAndAdds, RefusesASnapshotThatNeedsEntriesWhichAreTrimmed) {
  push(built_at(positions_[3]));
  const auto older = built_at(positions_[1]);
  EXPECT_THAT(test::message_of<ErrorKind::Data>([&] { push(older); }),
              AllOf(HasSubstr("set \"tags\" needs the keys that were added from "),
                    HasSubstr(url_ + " has trimmed them up to "), HasSubstr("--allow-shrink")));
  EXPECT_FALSE(has_chunks_of(older));
  EXPECT_EQ(push(older, {.max_shrink = std::nullopt}).record.generation, 2U);
}

TEST_F(PushAndAdds, TakesTheMomentOfASnapshotThatWasBuiltWithoutALookAtTheLog) {
  push(built_at(positions_[3]));
  const UnixSeconds overlap = std::chrono::seconds(kDefaultAddsOverlap).count();
  const UnixSeconds trimmed_at = static_cast<UnixSeconds>(milliseconds_of(positions_[3]) / 1000);
  for (const UnixSeconds too_early : {UnixSeconds{5}, trimmed_at - 3600, trimmed_at + overlap}) {
    EXPECT_THAT([&] { push(test::build_snapshot({.as_of = too_early})); }, test::fails(ErrorKind::Data))
        << too_early;
  }
  EXPECT_EQ(push(test::build_snapshot({.as_of = trimmed_at + overlap + 1})).record.generation, 2U);
}

TEST_F(PushAndAdds, PushesAKeptBuildAgainWhateverIsTrimmed) {
  const auto first = built_at(positions_[1]);
  push(first, {});
  push(built_at(positions_[4]));
  EXPECT_EQ(push(first).record.generation, 3U);
  EXPECT_THAT(logged_keys(), ElementsAre("c", "d", "e"));
}

// Pushes something else while the chunks are put.
class PushedMeanwhile : public test::StoreDecorator {
 public:
  PushedMeanwhile(Store& inner, std::function<void()> rivals)
      : StoreDecorator(inner), rivals_(std::move(rivals)) {}

  void put_many(std::span<const Record> records) override {
    inner_.put_many(records);
    if (rivals_) std::exchange(rivals_, nullptr)();
  }

 private:
  std::function<void()> rivals_;
};

TEST_F(PushAndAdds, KeepsTheEntriesThatAPushUnderWayNeeds) {
  PushedMeanwhile store(*store_, [this] {
    for (int i = 0; i < 3; ++i) push(built_at(positions_[3]));
    EXPECT_THAT(logged_keys(), ElementsAre("b", "c", "d", "e"));
  });
  keysieve::push(store, test::view_of(built_at(positions_[0])), {});
  EXPECT_THAT(logged_keys(), ElementsAre("b", "c", "d", "e"));
}

class CountingNotices : public test::StoreDecorator {
 public:
  CountingNotices(Store& inner, bool fails) : StoreDecorator(inner), fails_(fails) {}

  void notify(const std::string& log) override {
    notices_.push_back(log);
    if (fails_) throw Error(ErrorKind::Unavailable, name() + ": connection lost");
  }
  [[nodiscard]] const std::vector<std::string>& notices() const { return notices_; }

 private:
  bool fails_;
  std::vector<std::string> notices_;
};

TEST_F(PushAndAdds, WakesTheLoadersOnceThePointerHasMoved) {
  CountingNotices store(*store_, /*fails=*/false);
  EXPECT_THAT(keysieve::push(store, test::view_of(built_at(positions_[0])), {}).warnings, IsEmpty());
  EXPECT_THAT(store.notices(), ElementsAre(log_));
  EXPECT_THAT([&] { keysieve::push(store, test::view_of(test::build_snapshot({.keys = 10})), {}); },
              test::fails(ErrorKind::MaxShrink));
  EXPECT_THAT(store.notices(), ElementsAre(log_)) << "a refused push wakes nobody";
}

TEST_F(PushAndAdds, OnlyWarnsWhenTheLoadersCannotBeWoken) {
  CountingNotices store(*store_, /*fails=*/true);
  EXPECT_THAT(keysieve::push(store, test::view_of(built_at(positions_[0])), {}).warnings,
              ElementsAre(HasSubstr("loaders could not be woken")));
  EXPECT_EQ(current().generation, 1U);
}

}  // namespace
}  // namespace keysieve
