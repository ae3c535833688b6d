// A file is trusted only if its owner is trusted, no other user can write to it, and its path has no symbolic
// link. Everything else is refused at once, with a reason that names it.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "core/publisher/seen/new_segment.hpp"
#include "core/publisher/seen/seen_sizing.hpp"
#include "core/publisher/seen/seen_writer.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/seen/seen_reader.hpp"
#include "tests/core/shm/shared_memory.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

namespace fs = std::filesystem;
using test::is_root;
using test::kOtherUser;
using test::kWorkerGroup;
using test::publication_seen_by;
using test::run_as;
using ::testing::HasSubstr;

constexpr uid_t kWorker = 54'323;
constexpr const char* kSeenSet = "clicks";

void give_to(const std::string& path, uid_t user) {
  ASSERT_EQ(::chown(path.c_str(), user, kWorkerGroup), 0) << path;
}
void let_group_write(const std::string& path) {
  fs::permissions(path, fs::perms::group_write, fs::perm_options::add);
}
void let_others_write(const std::string& path) {
  fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
}
void give_to_another_user(const std::string& path) {
  give_to(path, kOtherUser);
}
void replace_by_link(const std::string& path) {
  fs::rename(path, path + "-real");
  fs::create_symlink(path + "-real", path);
}
void replace_by_pipe(const std::string& path) {
  fs::remove_all(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0640), 0);
}
void replace_by_another_type(const std::string& path) {
  const bool was_folder = fs::is_directory(path);
  fs::remove_all(path);
  if (was_folder) {
    std::ofstream(path) << "text";
  } else {
    fs::create_directory(path);
  }
}

using Spoil = void (*)(const std::string& path);
struct Spoiling {
  const char* name;
  Spoil spoil;
};
const std::array kSpoilings{
    Spoiling{"its group may write", let_group_write},
    Spoiling{"others may write", let_others_write},
    Spoiling{"of another user", give_to_another_user},
    Spoiling{"a link", replace_by_link},
    Spoiling{"a pipe", replace_by_pipe},
    Spoiling{"of another type", replace_by_another_type},
};

class UntrustedFiles : public test::SharedMemory {
 protected:
  UntrustedFiles() : SharedMemory(test::fast_folder()) { start_anew(); }
  ~UntrustedFiles() override { remove_segment(segment_key_); }

  void start_anew() {
    remove_segment(segment_key_);
    for (const auto& entry : fs::directory_iterator(directory_.path())) fs::remove_all(entry.path());
    fs::permissions(directory_.path(), fs::perms(0755));
    publish("key");
    SeenWriter writer(directory_.path(), kSeenSet, std::nullopt);
    writer.create({42}, OnUnavailable::New);
    writer.append(
        {.window = {.ends = kFarthestMoment}, .capacity = 50, .rate = 1e-6, .size = seen_size(50, 1e-6)}, 0);
    segment_key_ = writer.filters()[0].segment.key();
  }
  // Gives all of the set's files and its folder to a user, as if that user had published.
  void give_all_to(uid_t user) const {
    for (const std::string& name : file_names()) give_to(file(name), user);
    give_to(folder(), user);
    ASSERT_EQ(::chmod(folder().c_str(), 02750), 0);  // chown clears the set-group-id bit
  }
  void expect_refused(const std::string& path, std::optional<uid_t> trusted_owner) const {
    SetReader reader({.directory = directory_.path(), .trusted_owner = trusted_owner}, kSet);
    expect_missing(reader, HasSubstr(path));
  }
  [[nodiscard]] std::string seen_folder() const { return seen_directory(directory_.path()) + "/" + kSeenSet; }
  [[nodiscard]] int publication_seen_by_worker(gid_t group, std::optional<uid_t> trusted_owner) const {
    return run_as(kWorker, group, [&] {
      SetReader reader({.directory = directory_.path(), .trusted_owner = trusted_owner}, kSet);
      return static_cast<int>(publication_seen_by(reader));
    });
  }

  std::uint32_t segment_key_ = 0;
  const std::vector<std::string> files_{file(kControlName), file(snapshot_file_name(1)),
                                        file(live_file_name(1))};
};

TEST_F(UntrustedFiles, AreRefusedByReadersOfSetsAndSeenSets) {
  const std::vector<std::string> of_set{folder(), files_[0], files_[1], files_[2]};
  const std::vector<std::string> of_seen_set{seen_folder(), seen_folder() + "/" + kSeenPageName};
  for (const Spoiling& spoiling : kSpoilings) {
    if (spoiling.spoil == give_to_another_user && !is_root()) continue;
    for (const std::string& path : of_set) {
      SCOPED_TRACE(path + ": " + spoiling.name);
      start_anew();
      spoiling.spoil(path);
      expect_refused(path, std::nullopt);
    }
    for (const std::string& path : of_seen_set) {
      SCOPED_TRACE(path + ": " + spoiling.name);
      start_anew();
      spoiling.spoil(path);
      SeenReader reader({.directory = directory_.path()}, kSeenSet);
      EXPECT_FALSE(reader.follow());
      EXPECT_EQ(reader.availability(), Availability::Missing);
      EXPECT_THAT(reader.reason(), HasSubstr(path));
    }
  }
  if (!is_root()) GTEST_SKIP() << "only root can give files to another user";
}

TEST_F(UntrustedFiles, AreRefusedByPublishers) {
  struct Case {
    std::string path;
    Spoil spoil;
    ErrorKind kind;
  };
  for (const Case& one : {Case{folder(), replace_by_link, ErrorKind::CannotCreate},
                          Case{folder(), give_to_another_user, ErrorKind::NotTrusted},
                          Case{file(kLockName), replace_by_link, ErrorKind::CannotCreate},
                          Case{file(kLockName), replace_by_pipe, ErrorKind::NotTrusted}}) {
    if (one.spoil == give_to_another_user && !is_root()) continue;
    start_anew();
    one.spoil(one.path);
    EXPECT_EQ(test::failure_of([&] { publisher(); }), one.kind);
  }
  if (!is_root()) GTEST_SKIP() << "only root can give files to another user";
}

TEST_F(UntrustedFiles, AreThoseOfAnotherOwnerThanTheOneThatIsTrustedOrTheFolders) {
  if (!is_root()) GTEST_SKIP() << "only root can give files to another user";
  for (const std::string& path : files_) {
    give_to(path, kOtherUser);
    expect_refused(path, kOtherUser);
    give_to(path, 0);
  }
  give_to(folder(), kOtherUser);
  expect_refused(file(kControlName), kOtherUser);
  give_all_to(kOtherUser);
  expect_refused(folder(), kWorker);
}

TEST_F(UntrustedFiles, AreNotThoseOfRootOrOfTheTrustedOwnerForTheirGroup) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  give_all_to(0);
  EXPECT_EQ(publication_seen_by_worker(kWorkerGroup, std::nullopt), 1);
  give_all_to(kOtherUser);
  EXPECT_EQ(publication_seen_by_worker(kWorkerGroup, kOtherUser), 1);
  EXPECT_EQ(publication_seen_by_worker(kWorkerGroup + 1, kOtherUser), 0);
}

}  // namespace
}  // namespace keysieve
