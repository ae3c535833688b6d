// Signed snapshots that somebody forges, or replaces while they are published.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/worker/snapshot/layout.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/traced_process.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class SignedFile : public KeysieveProgram {
 protected:
  // Makes a key of that name, and a snapshot <name>.ks that it signs; returns its bytes.
  [[nodiscard]] std::string built(const std::string& key) const {
    run({"keygen", path(key)});
    const std::string keys = write("keys.txt", numbered_lines(1000));
    run({"build", "--set", "tags", keys, "-o", path(key + ".ks"), "--sign-key", path(key)});
    return read(path(key + ".ks"));
  }
};

// All checksums are right.
TEST_F(SignedFile, IsRefusedWithAForgedSignature) {
  std::string bytes = built("own");
  SnapshotHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.signature[0] ^= 1;
  header.header_checksum = header_checksum(header);
  std::memcpy(bytes.data(), &header, sizeof header);
  write("forged.ks", bytes);
  EXPECT_EQ(keysieve({"inspect", path("forged.ks")}).exit_status, 65);
  run({"push", path("forged.ks"), store()});
  EXPECT_EQ(keysieve({"pull", "tags", store(), "-o", path("pulled.ks")}).exit_status, 65);
  EXPECT_FALSE(std::filesystem::exists(path("pulled.ks")));
}

// Stopped when it has checked the file and before it copies it, while another process writes to the file.
TEST_F(SignedFile, IsPublishedAsItWasChecked) {
  if (!can_trace()) GTEST_SKIP() << "may not trace a process";
  const std::string others = built("other");
  const std::string checked = built("own");
  ASSERT_EQ(others.size(), checked.size());
  const std::string shown = said({"keygen", "--show", path("own")});
  const std::string public_key = shown.substr(shown.size() - 65, 64);
  TracedProcess process([&] {
    ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
    ::execl(KEYSIEVE_PROGRAM, "keysieve", "publish", "--directory", shared_memory().c_str(), "--public-key",
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
  EXPECT_TRUE(read(shared_memory() + "/tags/0000000000000001.ks") == checked);
}

}  // namespace
}  // namespace keysieve::test
