#include "core/worker/seen/segment.hpp"

#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "core/publisher/seen/new_segment.hpp"
#include "tests/core/seen/seen_sets.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::exit_status_of;
using test::has_segment;
using test::is_root;
using test::kOtherUser;
using test::kWorker;
using test::kWorkerGroup;
using test::run_as;
using ::testing::HasSubstr;

constexpr std::uint64_t kBytes = 3 * kPageBytes;

Segment make_segment(std::uint64_t bytes, gid_t group) {
  std::uint32_t key = 0;
  return create_segment(key, bytes, group, "set");
}

class SegmentTest : public ::testing::Test {
 protected:
  explicit SegmentTest(gid_t group = ::getegid()) : segment_(make_segment(kBytes, group)) {}
  ~SegmentTest() override { remove_segment(segment_.key()); }

  [[nodiscard]] Segment attach(uid_t creator = ::geteuid()) const {
    return Segment::attach(segment_.key(), kBytes, creator, "set");
  }
  // As ipcrm, ipcs and shmctl(2) reach it.
  [[nodiscard]] int id() const { return ::shmget(static_cast<key_t>(segment_.key()), 0, 0); }

  const Segment segment_;
};

class SegmentOfWorkers : public SegmentTest {
 protected:
  SegmentOfWorkers() : SegmentTest(is_root() ? kWorkerGroup : ::getegid()) {}
  void SetUp() override {
    if (!is_root()) GTEST_SKIP() << "only root can become another user";
  }
};

TEST_F(SegmentTest, StaysWhenItIsMoved) {
  Segment first = attach();
  const std::byte* const address = first.bytes().data();
  Segment second = std::move(first);
  EXPECT_EQ(second.bytes().data(), address);
  EXPECT_EQ(second.key(), segment_.key());
  second = attach();
  EXPECT_NE(second.bytes().data(), address);
  EXPECT_EQ(second.bytes()[0], std::byte{0});
}

TEST_F(SegmentTest, HasItsMemoryBeforeAnyoneUsesIt) {
  const auto resident_pages = [&] {
    std::array<unsigned char, kBytes / kPageBytes> pages{};
    EXPECT_EQ(::mincore(segment_.bytes().data(), kBytes, pages.data()), 0);
    return std::count(pages.begin(), pages.end(), 1);
  };
  EXPECT_EQ(resident_pages(), 0);
  make_resident(segment_);
  EXPECT_EQ(resident_pages(), 3);
}

TEST_F(SegmentTest, HasAKeyOfItsOwn) {
  std::uint32_t key = segment_.key();
  const Segment other = create_segment(key, kBytes, ::getegid(), "set");
  EXPECT_EQ(key, other.key());
  EXPECT_NE(key, 0U);
  EXPECT_NE(key, segment_.key());
  remove_segment(key);
}

TEST_F(SegmentTest, IsMissingUnderAnotherKey) {
  const std::uint32_t unused = segment_.key() ^ 0x40000000;
  EXPECT_EQ(test::failure_of([&] { Segment::attach(unused, kBytes, ::geteuid(), "set"); }),
            ErrorKind::MissingInput);
  EXPECT_FALSE(has_segment(unused)) << "nor is one made";
}

// A damaged page, whose keys are zeros.
TEST_F(SegmentTest, TouchesNothingUnderTheKeyThatStandsForANewOne) {
  const auto before = test::segments_of(::getpid());
  EXPECT_THAT([&] { Segment::attach(0, kBytes, ::geteuid(), "set"); }, ::testing::Throws<Error>());
  remove_segment(0);
  EXPECT_EQ(test::segments_of(::getpid()), before);
}

TEST_F(SegmentTest, CannotBeMadeLargerThanTheMachine) {
  std::uint32_t key = 1;
  EXPECT_THAT(test::message_of<ErrorKind::CannotCreate>(
                  [&] { create_segment(key, std::uint64_t{1} << 56, ::getegid(), "set"); }),
              HasSubstr("set: cannot create a segment of 72057594037927936 bytes"));
  EXPECT_EQ(key, 0U);
}

TEST_F(SegmentOfWorkers, IsClosedToAllOthers) {
  EXPECT_EQ(run_as(kWorker, kWorkerGroup + 1,
                   [&] {
                     static_cast<void>(attach(0));
                     return 0;
                   }),
            exit_status_of(ErrorKind::Permission));
}

// Unlike a file, a segment cannot be made shorter, and each process that has attached it keeps all of it.
TEST_F(SegmentOfWorkers, CannotBeCutShortOrRemoved) {
  const auto attack = [&] {
    const Segment attached = attach(0);
    static_cast<void>(::mremap(attached.bytes().data(), kBytes, kPageBytes, 0));
    static_cast<void>(::madvise(attached.bytes().data(), kBytes, MADV_REMOVE));
    shmid_ds status{};
    if (::shmctl(id(), IPC_STAT, &status) != 0) return 1;
    if (::shmctl(id(), IPC_SET, &status) == 0 || ::shmctl(id(), IPC_RMID, nullptr) == 0) return 2;
    return ::shmget(static_cast<key_t>(segment_.key()), 1, IPC_CREAT | 0666) == id() ? 0 : 1;
  };
  make_resident(segment_);
  EXPECT_EQ(run_as(kWorker, kWorkerGroup, attack), 0);
  for (std::byte& byte : segment_.bytes()) byte = std::byte{1};
  EXPECT_EQ(attach().bytes().size(), kBytes);
}

TEST_F(SegmentOfWorkers, IsNotTakenForOneThatAWorkerHasMade) {
  static_cast<void>(run_as(kWorker, kWorkerGroup, [] {
    const int id = ::shmget(0x4b530001, kBytes, IPC_CREAT | IPC_EXCL | 0666);
    return id >= 0 ? 0 : 1;
  }));
  EXPECT_THAT(test::message_of<ErrorKind::NotTrusted>([] { Segment::attach(0x4b530001, kBytes, 0, "set"); }),
              HasSubstr("by uid 54323"));
  remove_segment(0x4b530001);
  EXPECT_TRUE(has_segment(0x4b530001)) << "it belongs to another user";
  ::shmctl(::shmget(0x4b530001, 0, 0), IPC_RMID, nullptr);
}

TEST_F(SegmentTest, MayBeGivenToAGroupThatItsOwnerIsNotIn) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  const auto create = [] {
    const Segment segment = make_segment(kBytes, kWorkerGroup + 1);
    remove_segment(segment.key());
    return 0;
  };
  EXPECT_EQ(run_as(kOtherUser, kWorkerGroup, create), 0);
}

}  // namespace
}  // namespace keysieve
