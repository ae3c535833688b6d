#include "core/seen/seen_writer.hpp"

#include <sys/resource.h>
#include <sys/shm.h>

#include "tests/core/seen/seen_sets.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::exit_status_of;
using test::has_segment;
using test::is_new;
using test::is_root;
using test::kOtherUser;
using test::kWorkerGroup;
using test::numbered_hash;
using test::run_as;
using test::run_in_process;
using test::was_seen;
using ::testing::HasSubstr;

class SeenWriterTest : public test::SeenSets {
 protected:
  static std::size_t own_segments() { return test::segments_of(::getpid()); }
};

TEST_F(SeenWriterTest, HasNothingToAdoptAtFirst) {
  SeenWriter writer = this->writer();
  EXPECT_FALSE(writer.adopt());
  writer.create(kSeed, OnUnavailable::Seen);
  EXPECT_TRUE(writer.state().is_empty());
  EXPECT_EQ(writer.page().seed, kSeed);
}

TEST_F(SeenWriterTest, GoesOnWithWhatTheLastOneLeft) {
  SeenReader reader = this->reader();
  for (std::uint64_t start = 0; start < 5; ++start) {
    SeenWriter writer = this->writer();
    EXPECT_EQ(writer.adopt(), start > 0);
    if (start == 0) writer.create(kSeed, OnUnavailable::New);
    EXPECT_EQ(writer.state(), (SeenState{0, static_cast<std::uint32_t>(start)}));
    for (std::uint32_t number = 0; number < start; ++number) {
      EXPECT_TRUE(writer.filter(number).may_contain(numbered_hash(number)));
    }
    writer.append({plan()});
    EXPECT_TRUE(is_new(reader, numbered_hash(start)));
  }
}

TEST_F(SeenWriterTest, AppendsWhatWasPlanned) {
  SeenWriter writer = started_writer();
  const SeenPlan wanted{.window = {.begins = 10, .ends = 20, .kept_for = 10},
                        .growth = 3,
                        .capacity = 1'000,
                        .rate = 0.001,
                        .size = seen_size(1'000, 0.001)};
  writer.append({wanted});
  EXPECT_EQ(writer.entry(1).plan, wanted);
  EXPECT_EQ(writer.filter(1).words().size(), wanted.size.words);
}

TEST_F(SeenWriterTest, ShowsFiltersOnlyOnceTheyAreFilled) {
  SeenWriter writer = started_writer();
  SeenReader reader = this->reader();
  writer.append({plan(), plan()}, [&](std::size_t index, const SeenFilter& filter) {
    EXPECT_TRUE(filter.add_if_new(numbered_hash(index)));
    EXPECT_FALSE(was_seen(reader, numbered_hash(index)));
  });
  EXPECT_TRUE(was_seen(reader, numbered_hash(0)));
  EXPECT_TRUE(was_seen(reader, numbered_hash(1)));
}

TEST_F(SeenWriterTest, LeavesNothingBehindWhenItCannotFillAFilter) {
  SeenWriter writer = started_writer();
  const auto before = own_segments();
  const auto fill = [](std::size_t index, const SeenFilter& /*filter*/) {
    if (index == 1) throw Error(ErrorKind::Unavailable, "no store");
  };
  EXPECT_THAT([&] { writer.append({plan(), plan()}, fill); }, test::fails(ErrorKind::Unavailable));
  SeenPlan impossible = plan();
  impossible.size.key_bits = kMaxKeyBits + 1;
  EXPECT_THAT([&] { writer.append({plan(), impossible}); }, test::fails(ErrorKind::Data));
  EXPECT_EQ(writer.state(), (SeenState{0, 1}));
  EXPECT_EQ(own_segments(), before);
  writer.append({plan()});
  SeenReader reader = this->reader();
  EXPECT_TRUE(reader.follow()) << reader.reason();
}

TEST_F(SeenWriterTest, AppendsNoMoreThanASetMayHave) {
  SeenWriter writer = started_writer();
  writer.append(std::vector<SeenPlan>(kMaxSeenFilters - 2, plan()));
  const auto before = own_segments();
  EXPECT_THAT(
      [&] {
        writer.append({plan(), plan()});
      },
      test::fails(ErrorKind::CannotCreate, AllOf(HasSubstr(folder()), HasSubstr("the most is 512"))));
  EXPECT_EQ(own_segments(), before);
  writer.append({plan()});
  EXPECT_EQ(writer.state().size(), kMaxSeenFilters);
  EXPECT_THAT([&] { writer.append({plan()}); }, test::fails(ErrorKind::CannotCreate));
}

TEST_F(SeenWriterTest, CannotAppendMoreThanTheMachineHas) {
  SeenWriter writer = started_writer();
  SeenPlan large = plan();
  large.size.words = std::uint64_t{1} << 52;
  EXPECT_THAT([&] { writer.append({large}); },
              test::fails(ErrorKind::CannotCreate, AllOf(HasSubstr(folder()), HasSubstr("cannot create"))));
  EXPECT_EQ(writer.state(), (SeenState{0, 1}));
}

TEST_F(SeenWriterTest, RetiresOnlyFromTheOldestAndNeverTheNewest) {
  SeenWriter writer = this->writer();
  writer.create(kSeed, OnUnavailable::New);
  EXPECT_EQ(writer.retire(kForever), 0U);
  writer.append({plan(10), plan(20), plan(15), plan(30)});
  std::vector<std::uint32_t> keys;
  for (std::uint32_t number = 0; number < 4; ++number) keys.push_back(writer.entry(number).segment_key);
  EXPECT_EQ(writer.retire(9), 0U);
  EXPECT_EQ(writer.retire(10), 1U);
  EXPECT_EQ(writer.retire(19), 0U) << "the next one is needed until 20";
  EXPECT_EQ(writer.retire(20), 2U);
  EXPECT_EQ(writer.retire(kForever), 0U) << "the newest takes the keys";
  EXPECT_EQ(writer.state(), (SeenState{3, 4}));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(has_segment(keys[i]));
  EXPECT_TRUE(has_segment(keys[3]));
  EXPECT_EQ(writer.entry(3).segment_key, keys[3]);
}

// Keys came in until the next one began: they live as long as if it had ended then by plan.
TEST_F(SeenWriterTest, RetiresAWindowThatEndedLateAsMuchLater) {
  SeenWriter writer = this->writer();
  writer.create(kSeed, OnUnavailable::New);
  const auto window = [](UnixSeconds begins, UnixSeconds ends, std::uint64_t growth = 0) {
    SeenPlan of_window = plan(ends, growth);
    of_window.window = {.begins = begins, .ends = ends, .kept_for = 10};
    return of_window;
  };
  writer.append({window(0, 10), window(0, 10, 1), window(17, 20), window(20, 30)});
  EXPECT_EQ(writer.retire(26), 0U);
  EXPECT_EQ(writer.retire(27), 2U) << "both filters of the window that ended at 17";
  EXPECT_EQ(writer.retire(29), 0U);
  EXPECT_EQ(writer.retire(30), 1U);
}

TEST_F(SeenWriterTest, GoesRoundInThePage) {
  SeenWriter writer = this->writer();
  writer.create(kSeed, OnUnavailable::New);
  writer.append({plan(0)});
  const auto before = own_segments();
  for (std::uint32_t window = 1; window < 2 * kSeenEntries + 10; ++window) {
    writer.append({plan(window)});
    ASSERT_EQ(writer.retire(window), 1U);
    ASSERT_EQ(writer.state(), (SeenState{window, window + 1}));
  }
  EXPECT_EQ(own_segments(), before);
  SeenReader reader = this->reader();
  EXPECT_TRUE(is_new(reader, numbered_hash(1)));
}

TEST_F(SeenWriterTest, RemovesAllThatAnotherPageHad) {
  SeenWriter writer = started_writer();
  const auto before = own_segments();
  writer.append({plan(), plan()});
  writer.create(kSeed + 1, OnUnavailable::Throw);
  EXPECT_EQ(own_segments(), before - 1);
  EXPECT_TRUE(writer.state().is_empty());
  EXPECT_EQ(writer.page().seed, kSeed + 1);
  EXPECT_EQ(writer.page().on_unavailable, static_cast<std::uint32_t>(OnUnavailable::Throw));
}

TEST_F(SeenWriterTest, AdoptsNoPageThatHasLostMemory) {
  {
    SeenWriter writer = started_writer();
    writer.append({plan(), plan()});
    remove_segment(writer.entry(1).segment_key);
  }
  const auto before = own_segments();
  SeenWriter writer = this->writer();
  EXPECT_FALSE(writer.adopt());
  writer.create(kSeed, OnUnavailable::New);
  EXPECT_EQ(own_segments(), before - 2);
}

// Whatever it cannot do now, the keys are still there for the next one.
// A set that a loader cannot open for now must not be replaced: its keys would be new again.
class SeenWriterWithoutResources : public SeenWriterTest {
 protected:
  // Lets a process whose resources `limit` takes away look for a set of 32 MiB. Returns how that ended.
  int adopt_after(int (*limit)()) {
    {
      SeenPlan large = plan();
      large.size.words = 8'192 * kWordsPerSeenShard;
      started_writer().append({large});
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

TEST_F(SeenWriterTest, SaysWhenItIsRemoved) {
  const SeenWriter writer = started_writer();
  EXPECT_FALSE(writer.is_removed());
  const SeenReader reader = this->reader();
  std::filesystem::remove_all(folder());
  EXPECT_TRUE(writer.is_removed());
  remove_segment(writer.entry(0).segment_key);
}

TEST_F(SeenWriterTest, AdoptsNoDamagedPage) {
  static_cast<void>(started_writer());
  for (const std::size_t offset :
       {offsetof(SeenPage, magic), offsetof(SeenPage, abi_major), offsetof(SeenPage, seed),
        offsetof(SeenPage, state) + 2, offsetof(SeenPage, entries) + offsetof(SeenPlan, size.words) + 7,
        offsetof(SeenPage, entries) + offsetof(SeenPlan, size.key_bits) + 1}) {
    const SeenPageFile file = writable_page_file();
    auto* const byte = reinterpret_cast<std::byte*>(&file.writable_page()) + offset;
    *byte ^= std::byte{0x10};
    EXPECT_FALSE(writer().adopt()) << offset;
    *byte ^= std::byte{0x10};
  }
  EXPECT_TRUE(writer().adopt());
  std::filesystem::resize_file(page_path(), kSeenPageBytes - 1);
  EXPECT_FALSE(writer().adopt());
  std::filesystem::resize_file(page_path(), kSeenPageBytes);
}

TEST_F(SeenWriterTest, WorksAloneOnASet) {
  const SeenWriter writer = started_writer();
  EXPECT_THAT([&] { static_cast<void>(this->writer()); },
              test::fails(ErrorKind::Locked, HasSubstr(folder() + "/lock")));
  EXPECT_NO_THROW(SeenWriter(directory_.path(), "views", std::nullopt));
}

TEST_F(SeenWriterTest, RemovesWhatALoaderThatWasKilledHadNotShown) {
  static_cast<void>(started_writer());
  pid_t killed = 0;
  const auto append_and_die = [&] {
    SeenWriter writer = this->writer();
    if (!writer.adopt()) return 1;
    writer.append({plan(), plan()}, [](std::size_t index, const SeenFilter& /*filter*/) {
      if (index == 1) ::raise(SIGKILL);
    });
    return 0;
  };
  killed = test::start_process(append_and_die);
  EXPECT_EQ(test::wait_for(killed), -SIGKILL);
  EXPECT_EQ(test::segments_of(killed), 2U);
  SeenWriter writer = this->writer();
  EXPECT_TRUE(writer.adopt());
  EXPECT_EQ(test::segments_of(killed), 0U);
  EXPECT_EQ(writer.state(), (SeenState{0, 1}));
}

TEST_F(SeenWriterTest, KeepsSegmentsWhenItEnds) {
  SeenReader reader = this->reader();
  const pid_t loader = test::start_process([&] {
    SeenWriter writer = started_writer();
    return is_new(reader, numbered_hash(1)) ? 0 : 1;
  });
  EXPECT_EQ(test::wait_for(loader), 0);
  EXPECT_EQ(test::segments_of(loader), 1U);
  EXPECT_TRUE(was_seen(reader, numbered_hash(1))) << reader.reason();
}

TEST_F(SeenWriterTest, NeedsADirectory) {
  EXPECT_THAT([&] { SeenWriter(directory_ / "none", kSet, std::nullopt); },
              test::fails(ErrorKind::CannotCreate, HasSubstr(directory_ / "none")));
}

TEST_F(SeenWriterTest, RefusesAFolderOfAnotherUser) {
  if (!is_root()) GTEST_SKIP() << "only root can give files to another user";
  static_cast<void>(started_writer());
  for (const std::string& path : {folder(), folder() + "/" + kLockName, page_path()})
    ASSERT_EQ(::chown(path.c_str(), kOtherUser, kWorkerGroup), 0);
  EXPECT_THAT([&] { static_cast<void>(writer()); },
              test::fails(ErrorKind::NotTrusted, HasSubstr("belongs to uid 54321, this loader runs as 0")));
}

TEST_F(SeenWriterTest, NeedsAWritableDirectory) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  EXPECT_EQ(run_as(kOtherUser, kWorkerGroup,
                   [&] {
                     static_cast<void>(writer());
                     return 0;
                   }),
            exit_status_of(ErrorKind::Permission));
}

TEST_F(SeenWriterTest, WorksForAUserThatIsNotRoot) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  ASSERT_EQ(::chown(directory_.path().c_str(), kOtherUser, kWorkerGroup), 0);
  const auto retire_all = [&] {
    SeenWriter writer = this->writer(kWorkerGroup);
    writer.create(kSeed, OnUnavailable::New);
    writer.append({plan(0), plan(1)});
    writer.retire(1);
    SeenReader reader = this->reader();
    const bool works = is_new(reader, numbered_hash(1)) && !is_new(reader, numbered_hash(1));
    remove_segment(writer.entry(1).segment_key);
    return works ? 0 : 1;
  };
  EXPECT_EQ(run_as(kOtherUser, kWorkerGroup, retire_all), 0);
}

TEST_F(SeenWriterTest, LeavesASetAsItWasWhoseMemoryItMayNotLookAt) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user, for whom modes count";
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
    const std::uint32_t key = started_writer(kWorkerGroup).entry(0).segment_key;
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
