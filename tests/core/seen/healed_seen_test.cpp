// The loader puts back what was removed while workers go on: segments, and a page that its path does not lead
// to any more, because a folder was renamed. Something is mounted over it in tests/tools/loader/seen.
#include "core/publisher/seen/new_segment.hpp"
#include "tests/core/seen/seen_sets.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::append;
using test::has_segment;
using test::is_new;
using test::numbered_hash;

class HealedSeen : public test::SeenSets {
 protected:
  HealedSeen() {
    writer_.create(kSeed, OnUnavailable::New);
    append(writer_, {plan(1)});
  }

  SeenWriter writer_ = writer();
};

TEST_F(HealedSeen, HasAllKeysOfEachFilter) {
  for (const std::size_t lost : {0U, 1U, 2U}) {
    writer_.create(kSeed, OnUnavailable::New);
    append(writer_, {plan(1)});
    SeenReader attached = reader();
    for (std::uint64_t key = 0; key < 3; ++key) {
      if (key > 0) append(writer_, {plan(static_cast<UnixSeconds>(key) + 1)});
      EXPECT_TRUE(is_new(attached, numbered_hash(key)));
    }
    const std::uint32_t before = writer_.filters()[lost].segment.key();
    EXPECT_EQ(writer_.heal(), 0U);
    remove_segment(before);
    SeenReader fresh = reader();
    EXPECT_FALSE(fresh.follow());
    EXPECT_EQ(writer_.heal(), 1U);
    EXPECT_EQ(writer_.heal(), 0U);
    EXPECT_NE(writer_.filters()[lost].segment.key(), before);
    EXPECT_EQ(writer_.filters()[lost].plan.window.ends, static_cast<UnixSeconds>(lost) + 1);
    EXPECT_EQ(writer_.state().size, 3U);
    for (std::uint64_t key = 0; key < 3; ++key) {
      EXPECT_FALSE(is_new(attached, numbered_hash(key))) << lost;
      EXPECT_FALSE(is_new(fresh, numbered_hash(key))) << lost;
    }
    EXPECT_TRUE(is_new(attached, numbered_hash(10)));
    EXPECT_FALSE(is_new(fresh, numbered_hash(10)));
  }
}

TEST_F(HealedSeen, StaysAttachedWhileThereIsNoMemoryForAnotherOne) {
  bool has_memory = true;
  {
    SeenReader attached = reader();
    EXPECT_TRUE(is_new(attached, numbered_hash(1)));
  }
  writer_ = SeenWriter(directory_.path(), "views", std::nullopt);
  SeenWriter writer(directory_.path(), kSet, std::nullopt, [&](std::uint64_t /*bytes*/) {
    if (!has_memory) throw Error(ErrorKind::CannotCreate, "no memory");
  });
  ASSERT_TRUE(writer.adopt());
  remove_segment(writer.filters()[0].segment.key());
  has_memory = false;
  EXPECT_THAT(test::message_of<ErrorKind::CannotCreate>([&] { writer.heal(); }), "no memory");
  has_memory = true;
  EXPECT_EQ(writer.heal(), 1U);
  SeenReader fresh = reader();
  EXPECT_FALSE(is_new(fresh, numbered_hash(1)));
}

// How the path to the page is lost.
struct Loss {
  const char* name;
  void (*happen)(const std::filesystem::path& page);
};
void rename_away(const std::filesystem::path& path) {
  std::filesystem::rename(path, path.string() + "-moved");
}

class TakenOverSeenAfter : public HealedSeen, public ::testing::WithParamInterface<Loss> {
 protected:
  TakenOverSeenAfter() {
    EXPECT_TRUE(is_new(attached_, numbered_hash(1)));
    append(writer_, {plan(2)});
    EXPECT_TRUE(is_new(attached_, numbered_hash(2)));
    EXPECT_TRUE(amid_.follow());
  }

  SeenReader attached_ = reader();
  SeenReader amid_ = reader();
};

// The loader makes a new page, and no worker forgets a key: one that has the old page, one that is in the
// middle of a call, and a new one.
TEST_P(TakenOverSeenAfter, HasAllKeys) {
  GetParam().happen(page_path());
  EXPECT_FALSE(writer_.is_in_place());
  writer_.page().log.sent = 77;
  writer_.page().bypass_until = 78;
  const SeenState before = writer_.state();
  writer_.unlock();
  SeenWriter writer = this->writer();
  EXPECT_FALSE(writer.adopt());
  writer.take_over(writer_);
  EXPECT_TRUE(writer.is_in_place());
  EXPECT_EQ(writer.state(), before);
  EXPECT_EQ(writer.page().log.sent, 77U);
  EXPECT_EQ(writer.page().bypass_until, 78);
  EXPECT_TRUE(writer_.state().is_empty());
  EXPECT_TRUE(writer_.filters().empty());
  SeenReader fresh = reader();
  EXPECT_FALSE(is_new(fresh, numbered_hash(1))) << fresh.reason();
  EXPECT_FALSE(is_new(fresh, numbered_hash(2)));
  EXPECT_TRUE(is_new(fresh, numbered_hash(3)));
  EXPECT_EQ(amid_.add_if_new(numbered_hash(3)), SeenAnswer::Seen);
  EXPECT_FALSE(is_new(attached_, numbered_hash(1))) << "at the very next call";
  EXPECT_FALSE(is_new(attached_, numbered_hash(3)));
  EXPECT_TRUE(is_new(attached_, numbered_hash(4))) << attached_.reason();
  EXPECT_FALSE(is_new(fresh, numbered_hash(4)));
  // The old page has nothing any more that it could remove.
  writer_.clear();
  writer_.page().state.fetch_or(SeenState::kBypassBit);
  append(writer, {writer.filters().back().plan});
  EXPECT_EQ(attached_.add_if_new(numbered_hash(5)), SeenAnswer::New);
  EXPECT_FALSE(is_new(fresh, numbered_hash(5)));
  for (const OpenFilter& one : writer.filters()) EXPECT_TRUE(has_segment(one.segment.key()));
  EXPECT_TRUE(writer.adopt());
  EXPECT_TRUE(writer.lost().empty());
}

INSTANTIATE_TEST_SUITE_P(
    Losses, TakenOverSeenAfter,
    ::testing::Values(
        Loss{"its_folder_is_renamed", [](const auto& page) { rename_away(page.parent_path()); }},
        Loss{"all_sets_are_renamed", [](const auto& page) { rename_away(page.parent_path().parent_path()); }},
        Loss{"its_folder_is_removed",
             [](const auto& page) { std::filesystem::remove_all(page.parent_path()); }},
        Loss{"its_page_is_removed", [](const auto& page) { std::filesystem::remove(page); }}),
    [](const auto& loss) { return std::string(loss.param.name); });

TEST_F(HealedSeen, StaysBypassedWhenItsPageIsTakenOver) {
  SeenReader attached = reader();
  EXPECT_TRUE(attached.follow());
  writer_.page().state.fetch_or(SeenState::kBypassBit);
  rename_away(folder());
  SeenWriter writer = this->writer();
  writer.take_over(writer_);
  EXPECT_TRUE(writer.state().is_bypassed);
  EXPECT_FALSE(attached.follow());
  EXPECT_EQ(attached.availability(), Availability::Bypassed);
}

}  // namespace
}  // namespace keysieve
