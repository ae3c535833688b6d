// Signed snapshots that are forged, or replaced while they are published.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/worker/snapshot/layout.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/traced_process.hpp"

namespace keysieve::test {
namespace {

class SignedFile : public ::testing::Test {
 protected:
  static ProgramResult keysieve(std::vector<std::string> arguments) {
    return run_program({.program = KEYSIEVE_PROGRAM, .arguments = std::move(arguments)});
  }
  // Makes a key of that name, and a snapshot <name>.ks that it signs; returns its bytes.
  [[nodiscard]] std::string built(const std::string& key) const {
    EXPECT_EQ(keysieve({"keygen", path(key)}).exit_status, 0);
    const std::vector<std::string> build{"build", "--set",           "tags",       path("keys"),
                                         "-o",    path(key + ".ks"), "--sign-key", path(key)};
    std::ofstream(path("keys")) << "key\n";
    EXPECT_EQ(keysieve(build).exit_status, 0);
    return read(path(key + ".ks"));
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }

  TemporaryDirectory directory_;
};

// All checksums are right.
TEST_F(SignedFile, IsRefusedWithAForgedSignature) {
  std::string bytes = built("own");
  SnapshotHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.signature[0] ^= 1;
  header.header_checksum = header_checksum(header);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::ofstream(path("forged.ks"), std::ios::binary) << bytes;
  EXPECT_EQ(keysieve({"inspect", path("forged.ks")}).exit_status, 65);
  const std::string store = "lmdb:" + path("store");
  EXPECT_EQ(keysieve({"push", path("forged.ks"), store}).exit_status, 0);
  EXPECT_EQ(keysieve({"pull", "tags", store, "-o", path("pulled.ks")}).exit_status, 65);
  EXPECT_FALSE(std::filesystem::exists(path("pulled.ks")));
}

// Stopped when it has checked the file and before it copies it, while another process writes to the file.
TEST_F(SignedFile, IsPublishedAsItWasChecked) {
  if (!can_trace()) GTEST_SKIP() << "may not trace a process";
  const std::string others = built("other");
  const std::string checked = built("own");
  ASSERT_EQ(others.size(), checked.size());
  const std::string shown = keysieve({"keygen", "--show", path("own")}).output;
  const std::string public_key = shown.substr(shown.size() - 65, 64);
  TracedProcess process([&] {
    ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
    ::execl(KEYSIEVE_PROGRAM, "keysieve", "publish", "--directory", directory_.path().c_str(), "--public-key",
            public_key.c_str(), path("own.ks").c_str(), nullptr);
    return kUnexpected;
  });
  std::optional<std::uint64_t> call;
  do {
    call = process.next_call();
  } while (call && *call != SYS_flock);
  ASSERT_TRUE(call) << "it has locked nothing";
  std::fstream(path("own.ks"), std::ios::in | std::ios::out | std::ios::binary) << others;
  EXPECT_EQ(process.finish(), 0);
  EXPECT_TRUE(read(path("tags/0000000000000001.ks")) == checked);
}

}  // namespace
}  // namespace keysieve::test
