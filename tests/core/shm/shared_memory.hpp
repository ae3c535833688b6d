// A directory of shared memory for one test, with the set "tags" in it. Every suite of shm starts from it.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "core/builder/base/file_io.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/publisher/shm/new_pages.hpp"
#include "core/publisher/shm/publisher.hpp"
#include "core/worker/shm/set_reader.hpp"
#include "tests/core/sample_snapshot.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/mounts.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {

class SharedMemory : public ::testing::Test {
 protected:
  static constexpr const char* kSet = "tags";

  SharedMemory() = default;
  explicit SharedMemory(const std::filesystem::path& parent) : directory_(parent) {}

  // Its keys are "<prefix>0" to "<prefix>99".
  static SnapshotBytes snapshot_of(const std::string& prefix, BuildSettings settings = {.set_name = kSet}) {
    settings.shard_bytes = kMinShardBytes;
    return build_snapshot(settings, numbered_keys(prefix, 100));
  }

  // 5 MB; its keys are "<prefix>0" to "<prefix>39999".
  static SnapshotBytes large_snapshot_of(const std::string& prefix) {
    return build_snapshot({.set_name = kSet, .growth = 100.0}, numbered_keys(prefix, 40'000));
  }

  Publisher publisher() const { return {{.directory = directory_.path()}, kSet}; }
  std::uint64_t publish(const SnapshotBytes& snapshot, std::uint64_t generation = 1) const {
    Publisher publisher = this->publisher();
    return publisher.publish(snapshot.get(), generation);
  }
  std::uint64_t publish(const std::string& prefix, std::uint64_t generation = 1) const {
    return publish(snapshot_of(prefix), generation);
  }

  [[nodiscard]] SetReader reader() const { return {{.directory = directory_.path()}, kSet}; }

  // A reader that has attached publication 1, whose keys are "old0" to "old99".
  [[nodiscard]] SetReader reader_of_old() const;

  // What a new reader attaches. Valid until the next call.
  const Attachment& attach() {
    fresh_.emplace(reader());
    const Attachment* attachment = fresh_->follow();
    if (attachment == nullptr) throw std::runtime_error(std::string(fresh_->reason()));
    return *attachment;
  }

  // Every lookup answers maybe, for this reason.
  static void expect_missing(SetReader& reader, const ::testing::Matcher<std::string>& reason) {
    EXPECT_FALSE(reader.follow());
    EXPECT_EQ(reader.availability(), Availability::Missing);
    EXPECT_THAT(std::string(reader.reason()), reason);
  }
  void expect_missing(const ::testing::Matcher<std::string>& reason) const {
    SetReader fresh = reader();
    expect_missing(fresh, reason);
  }

  [[nodiscard]] std::string folder() const { return directory_ / kSet; }
  [[nodiscard]] std::string file(const std::string& name) const { return folder() + "/" + name; }
  [[nodiscard]] std::vector<std::string> file_names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  [[nodiscard]] MappedPage<ControlPage> writable_control() const {
    return open_control_page<ControlPage>(SetFolder::open(directory_.path(), kSet, std::nullopt));
  }

  // Writes a publication without the publisher's checks, and makes it current.
  void publish_by_hand(std::uint64_t publication, Bytes snapshot) const {
    const MappedPage<ControlPage> control = writable_control();
    place_files(control.page().instance, publication, snapshot);
    make_current_by_hand(publication);
  }
  void make_current_by_hand(std::uint64_t publication) const {
    const MappedPage<ControlPage> control = writable_control();
    control.page().current.store(publication);
  }
  void place_files(std::uint64_t instance, std::uint64_t publication, Bytes snapshot) const {
    const auto set_folder = open_or_create_folder(directory_.path(), kSet, std::nullopt);
    const std::string live_name = live_file_name(publication);
    // A snapshot that is cut short has no seed.
    const HashSeed seed =
        snapshot.size() < kPageBytes ? HashSeed{} : load<SnapshotHeader>(snapshot.data()).seed;
    write_all(create_file(set_folder, live_name, 0640),
              new_live_page({.instance = instance,
                             .publication = publication,
                             .generation = 1,
                             .published_at = 1,
                             .seed = seed}),
              live_name);
    const std::string snapshot_name = snapshot_file_name(publication);
    write_all(create_file(set_folder, snapshot_name, 0440), snapshot, snapshot_name);
  }

  TemporaryDirectory directory_;

 private:
  std::optional<SetReader> fresh_;
};

// The publication that a call would be answered from; 0 if the answer would be maybe.
inline std::uint64_t publication_seen_by(SetReader& reader) {
  const Attachment* attached = reader.follow();
  return attached ? attached->id().publication : 0;
}

// The answer a caller gives: maybe, unless snapshot and live layer say absent.
inline bool may_contain(SetReader& reader, std::string_view key) {
  const Attachment* attached = reader.follow();
  return !attached || attached->may_contain(attached->snapshot().hasher()(key));
}

// Maybe for the keys of "new", absent for those of "old".
inline bool answers_from_new(SetReader& reader) {
  return may_contain(reader, "new1") && !may_contain(reader, "old1");
}

inline SetReader SharedMemory::reader_of_old() const {
  publish("old");
  SetReader reader = this->reader();
  EXPECT_EQ(publication_seen_by(reader), 1U);
  return reader;
}

// Mounts over the directory of a test, or skips the test if that is not possible.
#define MOUNT_TMPFS_OR_SKIP(options)                                                        \
  if (!::keysieve::test::is_root()) GTEST_SKIP() << "only root can mount a tmpfs";          \
  const ::keysieve::test::MountedTmpfs mounted(directory_.path(), options);                 \
  if (mounted.error() == EPERM) GTEST_SKIP() << "this root may not mount";                  \
  if (mounted.error() == EINVAL) GTEST_SKIP() << "this kernel does not know " << (options); \
  ASSERT_EQ(mounted.error(), 0)

inline void change_byte(const std::string& path, std::streamoff offset) {
  std::filesystem::permissions(path, std::filesystem::perms::owner_write, std::filesystem::perm_options::add);
  std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
  const int byte = stream.seekg(offset).get();
  stream.seekp(offset).put(static_cast<char>(byte ^ 1));
}

}  // namespace keysieve::test
