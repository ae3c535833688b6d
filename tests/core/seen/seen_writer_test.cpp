#include "core/publisher/seen/seen_writer.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/shm.h>

#include <atomic>
#include <thread>

#include "core/publisher/seen/new_segment.hpp"
#include "core/publisher/seen/seen_sizing.hpp"
#include "core/publisher/shm/bypass.hpp"
#include "tests/core/seen/seen_sets.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::append;
using test::at;
using test::exit_status_of;
using test::has_segment;
using test::is_new;
using test::is_root;
using test::kOtherUser;
using test::kWorkerGroup;
using test::numbered_hash;
using test::run_as;
using test::run_in_process;
using ::testing::HasSubstr;

class SeenWriterTest : public test::SeenSets {
 protected:
  static std::size_t own_segments() { return test::segments_of(::getpid()); }
};

TEST_F(SeenWriterTest, GoesOnWithWhatTheLastOneLeft) {
  SeenReader reader = this->reader();
  for (std::uint64_t start = 0; start < 5; ++start) {
    SeenWriter writer = this->writer();
    EXPECT_EQ(writer.adopt(), start > 0);
    if (start == 0) writer.create(kSeed, OnUnavailable::New);
    ASSERT_EQ(writer.filters().size(), start);
    EXPECT_TRUE(writer.lost().empty());
    for (std::size_t i = 0; i < start; ++i) {
      EXPECT_TRUE(writer.filters()[i].filter.may_contain(numbered_hash(i)));
      EXPECT_EQ(writer.filters()[i].begun_at, static_cast<BootSeconds>(100 + i));
    }
    writer.append(plan(), static_cast<BootSeconds>(100 + start));
    EXPECT_TRUE(is_new(reader, numbered_hash(start)));
  }
}

TEST_F(SeenWriterTest, LosesNoBypassBesideThreadsThatChangeTheWindows) {
  SeenWriter writer = started_writer();
  std::atomic<bool> is_over = false;
  std::thread windows([&] {
    while (!is_over) writer.show();
  });
  for (int i = 0; i < 2000; ++i) {
    set_seen_bypass(directory_.path(), kSet, 0);
    ASSERT_TRUE(writer.state().is_bypassed);
    set_seen_bypass(directory_.path(), kSet, kBypassOver);
    ASSERT_FALSE(writer.state().is_bypassed);
  }
  is_over = true;
  windows.join();
  EXPECT_EQ(writer.state().size, 1U);
}

TEST_F(SeenWriterTest, AppendsWhatWasPlanned) {
  SeenWriter writer = started_writer();
  const SeenPlan wanted{.window = {.begins = 10, .ends = kForever, .kept_for = 10},
                        .growth = 3,
                        .capacity = 1'000,
                        .rate = 0.001,
                        .size = seen_size(1'000, 0.001)};
  writer.append(wanted, 77);
  EXPECT_EQ(writer.filters()[1].plan, wanted);
  EXPECT_EQ(writer.filters()[1].filter.words().size(), wanted.size.words);
  EXPECT_EQ(writer.filters()[1].sent().size(), wanted.size.words);
  const SeenEntry& entry = writer.page().entry(writer.state().end() - 1);
  EXPECT_EQ(entry.plan, wanted);
  EXPECT_EQ(entry.begun_at, 77);
  EXPECT_EQ(entry.segment_key, writer.filters()[1].segment.key());
  EXPECT_EQ(writer.find({kForever, 3}), &writer.filters()[1]);
  EXPECT_EQ(writer.find({kForever, 2}), nullptr);
}

// The loader may restore a filter that is older than those in the page.
TEST_F(SeenWriterTest, KeepsFiltersInTheOrderOfTheirWindowsAndGrowths) {
  SeenWriter writer = new_writer();
  const std::vector<FilterId> ids{{10, 0}, {10, 1}, {20, 0}, {30, 0}, {30, 1}};
  for (const std::size_t i : {2U, 0U, 4U, 1U, 3U}) writer.append(plan(ids[i].window_ends, ids[i].growth), 0);
  ASSERT_EQ(writer.filters().size(), ids.size());
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(id_of(writer.filters()[i].plan), ids[i]);
    EXPECT_EQ(id_of(writer.page().entry(writer.state().first + i).plan), ids[i]);
  }
  EXPECT_EQ(writer.next_window(writer.filters()[0]), &writer.filters()[2]);
  EXPECT_EQ(writer.next_window(writer.filters()[1]), &writer.filters()[2]);
  EXPECT_EQ(writer.next_window(writer.filters()[3]), nullptr);
  EXPECT_EQ(writer.ended_at(writer.filters()[0]), 10);
  EXPECT_EQ(writer.ended_at(writer.filters()[4]), std::nullopt);
}

TEST_F(SeenWriterTest, LeavesNothingBehindWhenItCannotMakeAFilter) {
  std::uint64_t asked = 0;
  SeenWriter writer(directory_.path(), kSet, std::nullopt, [&](std::uint64_t bytes) {
    asked = bytes;
    if (bytes > plan().segment_bytes()) throw Error(ErrorKind::CannotCreate, "no memory");
  });
  writer.create(kSeed, OnUnavailable::New);
  append(writer, {plan()});
  EXPECT_EQ(asked, plan().segment_bytes());
  const auto before = own_segments();
  const SeenState state = writer.state();
  EXPECT_THAT(test::message_of<ErrorKind::CannotCreate>([&] { append(writer, {roomy_plan()}); }),
              "no memory");
  EXPECT_EQ(writer.state(), state);
  EXPECT_EQ(writer.filters().size(), 1U);
  EXPECT_EQ(own_segments(), before);
  append(writer, {plan()});
  EXPECT_EQ(own_segments(), before + 1);
  SeenReader reader = this->reader();
  EXPECT_TRUE(reader.follow()) << reader.reason();
}

TEST_F(SeenWriterTest, RetiresOnlyFromTheOldestAndNeverTheNewest) {
  SeenWriter writer = new_writer();
  EXPECT_EQ(writer.retire(at(kForever)), 0U);
  append(writer, {plan(10), plan(15), plan(20), plan(30)});
  std::vector<std::uint32_t> keys;
  for (const OpenFilter& one : writer.filters()) keys.push_back(one.segment.key());
  EXPECT_EQ(writer.retire(at(9)), 0U);
  EXPECT_EQ(writer.retire(at(10)), 1U);
  EXPECT_EQ(writer.retire(at(20)), 2U);
  EXPECT_EQ(writer.retire(at(kForever)), 0U) << "the newest takes the keys";
  EXPECT_EQ(writer.state().size, 1U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(has_segment(keys[i]));
  EXPECT_TRUE(has_segment(keys[3]));
  EXPECT_EQ(writer.filters()[0].segment.key(), keys[3]);
}

SeenPlan window(const SeenPlan& plan, UnixSeconds begins, UnixSeconds ends, std::uint64_t growth = 0) {
  SeenPlan of_window = plan;
  of_window.window = {.begins = begins, .ends = ends, .kept_for = 10};
  of_window.growth = growth;
  return of_window;
}

// Keys came in until the next one began: they live as long as if it had ended then by plan.
TEST_F(SeenWriterTest, RetiresAWindowThatEndedLateAsMuchLater) {
  SeenWriter writer = new_writer();
  append(writer,
         {window(plan(), 0, 10), window(plan(), 0, 10, 1), window(plan(), 17, 20), window(plan(), 20, 30)});
  EXPECT_EQ(writer.retire(at(26)), 0U);
  EXPECT_EQ(writer.retire(at(27)), 2U) << "both filters of the window that ended at 17";
  EXPECT_EQ(writer.retire(at(29)), 0U);
  EXPECT_EQ(writer.retire(at(30)), 1U);
}

// The wall clock may be set, and the other one starts over at each boot.
TEST_F(SeenWriterTest, RetiresAWindowOnlyWhenBothClocksSayThatItHasExpired) {
  constexpr std::int64_t kHour = 3'600;
  SeenWriter writer = new_writer();
  writer.append(window(plan(), 1'000, 1'010), 50);
  writer.append(window(plan(), 1'010, 1'020), 60);
  EXPECT_EQ(writer.retire({.unix = 1'020 + kHour, .boot = 69}), 0U) << "a wall clock that is an hour ahead";
  EXPECT_EQ(writer.retire({.unix = 1'019, .boot = 70 + kHour}), 0U) << "one that is behind";
  EXPECT_EQ(writer.retire({.unix = 1'020, .boot = 70}), 1U);
  EXPECT_EQ(writer.retire(at(kForever)), 0U);
}

TEST_F(SeenWriterTest, RemovesAllThatAnotherPageHad) {
  SeenWriter writer = started_writer();
  const auto before = own_segments();
  append(writer, {plan(), plan()});
  writer.create(kOtherSeed, OnUnavailable::Throw);
  EXPECT_EQ(own_segments(), before - 1);
  EXPECT_TRUE(writer.state().is_empty());
  EXPECT_EQ(writer.page().seed, kOtherSeed);
  EXPECT_EQ(writer.page().on_unavailable, static_cast<std::uint32_t>(OnUnavailable::Throw));
}

TEST_F(SeenWriterTest, AdoptsNoDamagedPage) {
  const std::size_t entry =
      offsetof(SeenPage, entries) + started_writer().state().first % kSeenEntries * sizeof(SeenEntry);
  for (const std::size_t offset :
       {offsetof(SeenPage, state) + 3, entry + offsetof(SeenPlan, size.block_words) + 1}) {
    const MappedPage<SeenPage> file = writable_page();
    auto* const byte = reinterpret_cast<std::byte*>(&file.page()) + offset;
    *byte ^= std::byte{0x10};
    EXPECT_FALSE(writer().adopt()) << offset;
    *byte ^= std::byte{0x10};
  }
  EXPECT_TRUE(writer().adopt());
  std::filesystem::resize_file(page_path(), sizeof(SeenPage) - 1);
  EXPECT_FALSE(writer().adopt());
  std::filesystem::resize_file(page_path(), sizeof(SeenPage));
}

// Loaders that may not or cannot work on a seen set: locks, other users, a process without resources.
using SeenWriterAccess = test::SeenSets;

// As after an exec.
TEST_F(SeenWriterAccess, GoesOnWithTheLocksThatItsProcessHas) {
  std::vector<FileDescriptor> held;
  {
    const SeenWriter before = started_writer();
    for (const int lock : before.locks()) held.emplace_back(::fcntl(lock, F_DUPFD_CLOEXEC, 0));
  }
  ASSERT_EQ(held.size(), 2U);
  EXPECT_EQ(test::failure_of([&] { static_cast<void>(writer()); }), ErrorKind::Locked);
  {
    SeenWriter after(directory_.path(), kSet, std::nullopt, {}, &held);
    EXPECT_TRUE(after.adopt());
    EXPECT_EQ(test::failure_of([&] { static_cast<void>(writer()); }), ErrorKind::Locked);
  }
  EXPECT_TRUE(writer().adopt()) << "both locks have ended with the writer";
}

// The page is locked too, so removing `lock` does not let a second loader in.
TEST_F(SeenWriterAccess, WorksAloneOnASetWhoseLockWasRemoved) {
  {
    const SeenWriter writer = started_writer();
    std::filesystem::remove(folder() + "/" + kLockName);
    SeenWriter second = this->writer();
    EXPECT_THAT(test::message_of<ErrorKind::Locked>([&] { static_cast<void>(second.adopt()); }),
                HasSubstr(page_path()));
    EXPECT_EQ(writer.filters().size(), 1U);
    EXPECT_TRUE(writer.is_in_place());
  }
  EXPECT_TRUE(writer().adopt()) << "that loader has ended";
}

// A set that a loader cannot open for now must not be replaced: its keys would be new again.
class SeenWriterWithoutResources : public test::SeenSets {
 protected:
  // Lets a process whose resources `limit` takes away look for a set of 32 MiB. Returns how that ended.
  int adopt_after(int (*limit)()) {
    {
      SeenPlan large = plan();
      large.size.words = 8'192 * kWordsPerSeenShard;
      SeenWriter writer = started_writer();
      append(writer, {large});
    }
    SeenReader reader = this->reader();
    EXPECT_TRUE(is_new(reader, numbered_hash(1)));
    const int status = run_in_process([&] {
      SeenWriter writer = this->writer();
      if (limit() != 0) return test::kUnexpected;
      return writer.adopt() ? 1 : 2;
    });
    SeenWriter writer = this->writer();
    EXPECT_TRUE(writer.adopt());
    EXPECT_FALSE(is_new(reader, numbered_hash(1)));
    return status;
  }
};

TEST_F(SeenWriterWithoutResources, LeavesASetAsItWasWithoutDescriptors) {
  const auto limit = [] {
    const rlimit open_files{static_cast<rlim_t>(::dup(0)), 4'096};  // and that one stays open
    return ::setrlimit(RLIMIT_NOFILE, &open_files);
  };
  EXPECT_EQ(adopt_after(limit), exit_status_of(ErrorKind::MissingInput));
}

TEST_F(SeenWriterWithoutResources, LeavesASetAsItWasWithoutAddressSpace) {
  const auto limit = [] {
    std::ifstream pages("/proc/self/statm");
    rlim_t mapped = 0;
    pages >> mapped;
    const rlimit bytes{mapped * kPageBytes + (16 << 20), RLIM_INFINITY};
    return ::setrlimit(RLIMIT_AS, &bytes);
  };
  EXPECT_EQ(adopt_after(limit), exit_status_of(ErrorKind::CannotCreate));
}

TEST_F(SeenWriterAccess, RefusesAFolderOfAnotherUser) {
  if (!is_root()) GTEST_SKIP() << "only root can give files to another user";
  static_cast<void>(started_writer());
  for (const std::string& path : {folder(), folder() + "/" + kLockName, page_path()})
    ASSERT_EQ(::chown(path.c_str(), kOtherUser, kWorkerGroup), 0);
  EXPECT_THAT(test::message_of<ErrorKind::NotTrusted>([&] { static_cast<void>(writer()); }),
              HasSubstr("belongs to uid 54321, this loader runs as 0"));
}

TEST_F(SeenWriterAccess, NeedsAWritableDirectory) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  EXPECT_EQ(run_as(kOtherUser, kWorkerGroup,
                   [&] {
                     static_cast<void>(writer());
                     return 0;
                   }),
            exit_status_of(ErrorKind::Permission));
}

TEST_F(SeenWriterAccess, WorksForAUserThatIsNotRoot) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  ASSERT_EQ(::chown(directory_.path().c_str(), kOtherUser, kWorkerGroup), 0);
  const auto retire_all = [&] {
    SeenWriter writer = this->writer(kWorkerGroup);
    writer.create(kSeed, OnUnavailable::New);
    append(writer, {plan(0), plan(1)});
    writer.retire(at(1));
    SeenReader reader = this->reader();
    const bool works = is_new(reader, numbered_hash(1)) && !is_new(reader, numbered_hash(1));
    remove_segment(writer.filters()[0].segment.key());
    return works ? 0 : 1;
  };
  EXPECT_EQ(run_as(kOtherUser, kWorkerGroup, retire_all), 0);
}

TEST_F(SeenWriterAccess, LeavesASetAsItWasWhoseMemoryItMayNotLookAt) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user, whose access depends on modes";
  ASSERT_EQ(::chown(directory_.path().c_str(), kOtherUser, kWorkerGroup), 0);
  const auto set_mode = [](std::uint32_t key, unsigned short mode) {
    const int id = ::shmget(static_cast<key_t>(key), 0, 0);
    shmid_ds status{};
    status.shm_perm.uid = kOtherUser;
    status.shm_perm.gid = kWorkerGroup;
    status.shm_perm.mode = mode;
    return ::shmctl(id, IPC_SET, &status) == 0;
  };
  const auto adopt = [&] {
    const std::uint32_t key = started_writer(kWorkerGroup).filters()[0].segment.key();
    bool is_refused = false;
    if (!set_mode(key, 0)) return test::kUnexpected;
    try {
      static_cast<void>(writer(kWorkerGroup).adopt());
    } catch (const Error& error) {
      is_refused = error.kind() == ErrorKind::Permission;
    }
    if (!set_mode(key, 0660)) return test::kUnexpected;
    const bool is_there = writer(kWorkerGroup).adopt();
    remove_segment(key);
    return is_refused && is_there ? 0 : 1;
  };
  EXPECT_EQ(run_as(kOtherUser, kWorkerGroup, adopt), 0);
}

}  // namespace
}  // namespace keysieve
