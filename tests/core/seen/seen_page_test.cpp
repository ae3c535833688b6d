// The page that leads to the words: what of it is trusted, and what workers may do to it.
#include "core/worker/seen/seen_page.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <csignal>

#include "core/worker/base/checksum.hpp"
#include "tests/core/seen/seen_sets.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::is_new;
using test::is_root;
using test::kOtherUser;
using test::kWorker;
using test::kWorkerGroup;
using test::numbered_hash;
using test::run_as;
using ::testing::HasSubstr;

class SeenPageTest : public test::SeenSets {
 protected:
  void SetUp() override {
    SeenWriter writer = started_writer();
    test::append(writer, {plan(), plan()});
  }

  void open() const {
    open_seen_page<const SeenPage>(SetFolder::open(seen_directory(directory_.path()), kSet, std::nullopt));
  }
  // By those who open the page, and by workers.
  void expect_refused(ErrorKind kind) const {
    EXPECT_EQ(test::failure_of([&] { open(); }), kind);
    SeenReader reader = this->reader();
    EXPECT_FALSE(reader.follow());
    EXPECT_THAT(reader.reason(), HasSubstr(page_path()));
    EXPECT_EQ(reader.availability(),
              kind == ErrorKind::Incompatible ? Availability::Incompatible : Availability::Missing);
  }
  // As another version would write it, whatever is wrong with it already: the checksum is right.
  template <typename Change>
  void rewrite_header(Change change) const {
    std::fstream file(page_path(), std::ios::in | std::ios::out | std::ios::binary);
    const auto page = std::make_unique<SeenPage>();
    file.read(reinterpret_cast<char*>(page.get()), sizeof *page);
    change(*page);
    page->header_checksum = header_checksum(*page);
    file.seekp(0).write(reinterpret_cast<const char*>(page.get()), sizeof *page);
  }
};

TEST_F(SeenPageTest, IsRefusedWithAnyOtherSize) {
  const std::string whole = directory_ / "whole";
  std::filesystem::copy_file(page_path(), whole);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, kPageBytes, sizeof(SeenPage) - kPageBytes,
                                  sizeof(SeenPage) - 1, sizeof(SeenPage) + 1}) {
    std::filesystem::resize_file(page_path(), bytes);
    expect_refused(ErrorKind::Data);
  }
  std::filesystem::copy_file(whole, page_path(), std::filesystem::copy_options::overwrite_existing);
  EXPECT_NO_THROW(open());
}

// All that a worker may ask. Whether it gets answers.
bool is_answered(SeenReader& reader, std::uint64_t seed) {
  std::array<KeyHash, 40> hashes{};
  std::array<bool, 40> are_new{};
  for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = numbered_hash(seed * hashes.size() + i);
  hashes[0] = {0};
  hashes[1] = {~std::uint64_t{0}};
  if (!reader.follow()) return false;
  static_cast<void>(reader.may_contain(hashes[2]));
  static_cast<void>(reader.add_if_new(hashes[3]));
  return reader.is_ready() && reader.add_many_if_new(hashes, are_new.data()) == hashes.size();
}

// Each byte up to the entries that are used, and some of the others.
TEST_F(SeenPageTest, IsRefusedOrAnswersWithAnyByteChanged) {
  constexpr std::size_t kHeader = offsetof(SeenPage, header_checksum) + sizeof(std::uint64_t);
  constexpr std::size_t kUsed = offsetof(SeenPage, entries) + 8 * sizeof(SeenEntry);
  constexpr std::size_t kSomeBytes = 61;
  const MappedPage<SeenPage> file = writable_page();
  auto* const page = reinterpret_cast<std::byte*>(&file.page());
  for (const std::byte change : {std::byte{0x01}, std::byte{0xf0}}) {
    for (std::size_t offset = 0; offset < sizeof(SeenPage); offset += offset < kUsed ? 1 : kSomeBytes) {
      page[offset] ^= change;
      SeenReader reader = this->reader();
      const bool is_refused = !is_answered(reader, offset);
      EXPECT_EQ(is_refused, !reader.is_ready()) << offset;
      EXPECT_EQ(is_refused, reader.reason() != "") << offset;
      EXPECT_TRUE(is_refused || offset >= kHeader) << offset;
      if (offset < kHeader) {
        EXPECT_FALSE(writer().adopt()) << offset;
      }
      page[offset] ^= change;
    }
  }
  EXPECT_TRUE(reader().follow());
}

// Bytes that were never written have no seed.
TEST_F(SeenPageTest, IsRefusedWithoutASeed) {
  rewrite_header([](SeenPage& page) { page.seed = {}; });
  expect_refused(ErrorKind::Data);
}

TEST_F(SeenPageTest, IsIncompatibleWithAnotherMajorAbi) {
  rewrite_header([](SeenPage& page) { ++page.abi_major; });
  expect_refused(ErrorKind::Incompatible);
  rewrite_header([](SeenPage& page) {
    --page.abi_major;
    page.endian_mark = 0x04030201;
  });
  expect_refused(ErrorKind::Incompatible);
}

// The page is the trusted user's, but its words were made by another one.
TEST_F(SeenPageTest, LeadsToNoMemoryThatAnotherUserHasMade) {
  if (!is_root()) GTEST_SKIP() << "only root can give files to another user";
  for (const std::string& path : {page_path(), folder()})
    ASSERT_EQ(::chown(path.c_str(), kOtherUser, kWorkerGroup), 0);
  ASSERT_EQ(::chmod(folder().c_str(), 02750), 0);
  SeenReader reader({.directory = directory_.path(), .trusted_owner = kOtherUser}, kSet);
  EXPECT_FALSE(reader.follow());
  EXPECT_THAT(reader.reason(),
              AllOf(HasSubstr(page_path()), HasSubstr("by uid 0, not of 4352 bytes by uid 54321")));
}

// Golden: a page outlives an update of the loader and the extension.
TEST(SeenPageLayout, NeverChanges) {
  const SeenEntry entry{.plan = {.window = {.begins = 1, .ends = 2, .kept_for = 3},
                                 .growth = 4,
                                 .capacity = 5,
                                 .rate = 0.5,
                                 .size = {.words = 6, .block_words = 7}},
                        .begun_at = 8,
                        .segment_key = 9,
                        .unused = 0};
  EXPECT_THAT((std::bit_cast<std::array<std::uint64_t, sizeof entry / 8>>(entry)),
              ::testing::ElementsAre(1, 2, 3, 4, 5, std::bit_cast<std::uint64_t>(0.5), 6, 7, 8, 9));
  const std::array offsets{
      offsetof(SeenPage, endian_mark),     offsetof(SeenPage, abi_major), offsetof(SeenPage, seed),
      offsetof(SeenPage, header_checksum), offsetof(SeenPage, state),     offsetof(SeenPage, on_unavailable),
      offsetof(SeenPage, looked_at),       offsetof(SeenPage, troubles),  offsetof(SeenPage, next_look),
      offsetof(SeenPage, bypass_until),    offsetof(SeenPage, log),       offsetof(SeenPage, entries)};
  EXPECT_THAT(offsets, ::testing::ElementsAre(8, 12, 16, 32, 64, 128, 136, 144, 152, 160, 192, 4096));
}

class SeenPageOfWorkers : public test::SeenSets {
 protected:
  void SetUp() override {
    if (!is_root()) GTEST_SKIP() << "only root can become another user";
    static_cast<void>(started_writer(kWorkerGroup));
  }
};

TEST_F(SeenPageOfWorkers, IsClosedToAllOthers) {
  EXPECT_EQ(run_as(kWorker, kWorkerGroup + 1,
                   [&] {
                     SeenReader reader = this->reader();
                     expect_missing(reader, AllOf(HasSubstr(folder()), HasSubstr("Permission denied")));
                     return HasFailure() ? 1 : 0;
                   }),
            0);
}

TEST_F(SeenPageOfWorkers, IsMappedReadOnly) {
  const auto write = [&]() -> int {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would report it
    SeenReader reader = this->reader();
    if (!reader.follow()) return 1;
    const_cast<SeenPage*>(reader.page())->on_unavailable = 1;
    return 0;
  };
  EXPECT_EQ(run_as(kWorker, kWorkerGroup, write), -SIGSEGV);
}

TEST_F(SeenPageOfWorkers, IsGivenToAnotherGroupWithAllItsMemory) {
  EXPECT_TRUE(writer(kWorkerGroup + 1).adopt());
  struct stat status {};
  ASSERT_EQ(::stat(page_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_gid, kWorkerGroup + 1);
  const auto adds = [&] {
    SeenReader reader = this->reader();
    return is_new(reader, numbered_hash(1)) ? 0 : 1;
  };
  EXPECT_EQ(run_as(kWorker, kWorkerGroup, adds), 1);
  EXPECT_EQ(run_as(kWorker, kWorkerGroup + 1, adds), 0);
}

TEST_F(SeenPageOfWorkers, HasTheSameModesWithAnyUmask) {
  const auto mode_of = [](const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  };
  for (const mode_t mask : {0U, 022U, 077U}) {
    const mode_t before = ::umask(mask);
    SeenWriter writer(directory_.path(), "views", kWorkerGroup);
    writer.create(kSeed, OnUnavailable::New);
    ::umask(before);
    const std::string views = seen_directory(directory_.path()) + "/views";
    EXPECT_EQ(mode_of(seen_directory(directory_.path())), 0755U);
    EXPECT_EQ(mode_of(views), 02750U);
    EXPECT_EQ(mode_of(views + "/page"), 0640U);
    EXPECT_EQ(mode_of(views + "/lock"), 0600U);
    std::filesystem::remove_all(views);
  }
}

}  // namespace
}  // namespace keysieve
