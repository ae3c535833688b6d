// Sets that a worker cannot ask, and pages that it does not trust.
#include <sched.h>

#include "core/publisher/seen/new_segment.hpp"
#include "tests/core/seen/seen_sets.hpp"

namespace keysieve {
namespace {

using test::append;
using test::eventually;
using test::is_new;
using test::numbered_hash;
using test::was_seen;
using ::testing::HasSubstr;

// More calls than there are between two checks of the files.
constexpr int kCallsBetweenChecks = 4'200;

class UnavailableSeen : public test::SeenSets {};

TEST_F(UnavailableSeen, IsMissingWithoutAPage) {
  SeenReader reader = this->reader();
  expect_missing(reader, AllOf(HasSubstr(directory_.path()), HasSubstr("No such file")));
  EXPECT_EQ(reader.page(), nullptr);
  EXPECT_EQ(reader.on_unavailable(), OnUnavailable::Throw);
}

TEST_F(UnavailableSeen, IsMissingWhileThereIsNoFilter) {
  SeenWriter writer = this->writer();
  SeenReader reader = this->reader();
  for (const OnUnavailable answer : kOnUnavailable) {
    writer.create(kSeed, answer);
    reader.check_soon();
    expect_missing(reader, AllOf(HasSubstr(page_path()), HasSubstr("has no filter yet")));
    EXPECT_EQ(reader.on_unavailable(), answer);
  }
  writer.set_on_unavailable(OnUnavailable::Throw);
  EXPECT_EQ(reader.on_unavailable(), OnUnavailable::Throw);
  append(writer, {plan()});
  EXPECT_TRUE(is_new(reader, numbered_hash(1))) << "at the very next call";
  EXPECT_EQ(reader.reason(), "");
}

TEST_F(UnavailableSeen, FindsASetThatComesLaterAtTheNextRequestOrInOneLongRequest) {
  SeenReader next_request = this->reader();
  SeenReader long_request = this->reader();
  EXPECT_FALSE(next_request.follow());
  EXPECT_FALSE(long_request.follow());
  const SeenWriter writer = started_writer();
  next_request.check_soon();
  EXPECT_TRUE(next_request.follow());
  EXPECT_TRUE(eventually([&] { return long_request.follow(); }));
}

TEST_F(UnavailableSeen, FollowsAnotherPageAtTheNextRequestOrInOneLongRequest) {
  SeenReader next_request = this->reader();
  SeenReader long_request = this->reader();
  SeenWriter writer = started_writer();
  EXPECT_TRUE(is_new(next_request, numbered_hash(1)));
  EXPECT_TRUE(long_request.follow());
  writer.create(kOtherSeed, OnUnavailable::Seen);
  append(writer, {plan()});
  next_request.check_soon();
  EXPECT_TRUE(is_new(next_request, numbered_hash(1)));
  EXPECT_EQ(next_request.seed(), kOtherSeed);
  EXPECT_EQ(next_request.hasher()("key"), hash_key("key", kOtherSeed));
  EXPECT_EQ(next_request.on_unavailable(), OnUnavailable::Seen);
  int calls = 0;
  while (!was_seen(long_request, numbered_hash(1)) && calls < kCallsBetweenChecks) ++calls;
  EXPECT_LT(calls, kCallsBetweenChecks);
}

TEST_F(UnavailableSeen, IsMissingOnceTheFolderIsGone) {
  SeenReader reader = this->reader();
  {
    SeenWriter writer = started_writer();
    EXPECT_TRUE(reader.follow());
    remove_segment(writer.filters()[0].segment.key());
    std::filesystem::remove_all(folder());
  }
  reader.check_soon();
  expect_missing(reader, HasSubstr("No such file"));
  EXPECT_TRUE(reader.filters().empty());
  EXPECT_EQ(reader.page(), nullptr);
}

TEST_F(UnavailableSeen, IsMissingWhenASegmentWasRemoved) {
  SeenWriter writer = started_writer();
  append(writer, {plan()});
  SeenReader attached = this->reader();
  EXPECT_TRUE(is_new(attached, numbered_hash(1)));
  remove_segment(writer.filters()[1].segment.key());
  expect_missing(AllOf(HasSubstr(page_path()), HasSubstr("its memory is not there")));
  EXPECT_FALSE(is_new(attached, numbered_hash(1))) << "what was attached stays";
  append(writer, {plan()});
  EXPECT_FALSE(is_new(attached, numbered_hash(1)));
  EXPECT_TRUE(is_new(attached, numbered_hash(2)));
}

TEST_F(UnavailableSeen, DoesNotKnowWhenItCannotLookAtANewerFilter) {
  SeenWriter writer = started_writer();
  SeenReader reader = this->reader();
  EXPECT_TRUE(reader.follow());
  append(writer, {plan()});
  remove_segment(writer.filters()[1].segment.key());
  EXPECT_EQ(reader.add_if_new(numbered_hash(1)), SeenAnswer::Unknown);
  EXPECT_FALSE(reader.is_ready());
  expect_missing(reader, HasSubstr("its memory is not there"));
}

TEST_F(UnavailableSeen, IsMissingInAnotherNamespaceOfSegments) {
  if (!test::is_root()) GTEST_SKIP() << "only root can make a namespace";
  const SeenWriter writer = started_writer();
  const int found = test::run_in_process([&] {
    if (::unshare(CLONE_NEWIPC) != 0) return 2;
    expect_missing(HasSubstr("IPC namespace"));
    return HasFailure() ? 1 : 0;
  });
  if (found == 2) GTEST_SKIP() << "this root may not make a namespace";
  EXPECT_EQ(found, 0);
}

TEST_F(UnavailableSeen, RefusesAPageWithMoreFiltersThanASetMayHave) {
  const SeenWriter writer = started_writer();
  const MappedPage<SeenPage> file = writable_page();
  for (const SeenState state : {SeenState{0, kMaxSeenFilters + 1}, SeenState{7, 0xffff}}) {
    file.page().state = state.word();
    expect_missing(AllOf(HasSubstr(page_path()), HasSubstr("damaged")));
  }
}

TEST_F(UnavailableSeen, RefusesAnEntryThatLeadsBeyondItsSegment) {
  const SeenWriter writer = started_writer();
  const MappedPage<SeenPage> file = writable_page();
  SeenEntry& entry = file.page().entries[writer.state().first];
  const SeenEntry good = entry;
  for (const std::uint64_t words :
       {std::uint64_t{0}, good.plan.size.words ^ std::uint64_t{1} << 60, good.plan.size.words - 1,
        good.plan.size.words + 1, 2 * good.plan.size.words}) {
    entry.plan.size.words = words;
    expect_missing(HasSubstr("not trusted: a segment of 4352 bytes"));
  }
  entry = good;
  for (const std::uint64_t words : {0U, 1U, 2U, 5U, 32U, 0xffffU}) {
    entry.plan.size.block_words = words;
    expect_missing(HasSubstr("damaged"));
  }
  entry = good;
  EXPECT_TRUE(reader().follow());
}

}  // namespace
}  // namespace keysieve
