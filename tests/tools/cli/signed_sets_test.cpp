#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>

#include "core/snapshot/snapshot.hpp"
#include "tests/support/traced_process.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class SignedSets : public KeysieveProgram {
 protected:
  // Makes a key; returns its public one.
  std::string make_key(const std::string& name) const {
    return json({"keygen", path(name)}).at("public_key").get<std::string>();
  }
  std::string build_signed(const std::string& name, const std::string& key, const Words& options = {}) const {
    return build(name, numbered_lines(1'000), Words{"--sign-key", path(key)} + options);
  }

  // Signed by nobody, but it names a key; all checksums are right.
  std::string forged() const {
    std::string bytes = read(snapshot_);
    auto header = load<SnapshotHeader>(reinterpret_cast<const std::byte*>(bytes.data()));
    header.signature[0] ^= 1;
    header.header_checksum = header_checksum(header);
    std::memcpy(bytes.data(), &header, sizeof header);
    return write("forged.ks", bytes);
  }

  const std::string public_key_ = make_key("sign.key");
  const std::string other_ = make_key("other.key");
  const std::string snapshot_ = build_signed("tags", "sign.key");
};

TEST_F(SignedSets, KeygenMakesAKeyAndShowsThePublicOne) {
  EXPECT_EQ(public_key_.size(), 64U);
  EXPECT_EQ(json({"keygen", "--show", path("sign.key")}).at("public_key"), public_key_);
  EXPECT_THAT(said({"keygen", "--show", path("sign.key")}), ContainsRegex("public key +" + public_key_));
  EXPECT_THAT(refusal(73, {"keygen", path("sign.key")}), HasSubstr("sign.key: is there already"));
  permit(path("sign.key"), 0644);
  EXPECT_THAT(refusal(77, {"keygen", "--show", path("sign.key")}), HasSubstr("chmod 600"));
}

TEST_F(SignedSets, InspectShowsTheSigner) {
  EXPECT_EQ(inspect(snapshot_).at("public_key"), public_key_);
  EXPECT_THAT(said({"inspect", snapshot_}), ContainsRegex("signed by +" + public_key_));
  EXPECT_EQ(inspect(build("unsigned", numbered_lines(10))).at("public_key"), nullptr);
}

TEST_F(SignedSets, PullPublishAndVerifyRefuseWhatAnotherKeyHasSigned) {
  push(snapshot_);
  const std::string keys = write("keys", numbered_lines(1'000));
  const std::vector<Words> verbs{{"pull", "tags", store(), "-o", path("pulled.ks")},
                                 {"publish", snapshot_},
                                 {"verify", snapshot_, "--keys", keys}};
  for (const Words& verb : verbs) {
    EXPECT_THAT(refusal(65, verb + Words{"--public-key", other_}), HasSubstr("is signed by"));
    EXPECT_THAT(refusal(65, verb + Words{"--public-key", other_, "--json"}), HasSubstr("is signed by"));
  }
  EXPECT_THAT(names_in(directory_.path()), Not(::testing::Contains("pulled.ks")));
  for (const Words& verb : verbs) run(verb + Words{"--public-key", other_, "--public-key", public_key_});
}

TEST_F(SignedSets, PullRefusesWhatIsNotSigned) {
  push(build("unsigned", numbered_lines(1'000)));
  EXPECT_THAT(refusal(65, {"pull", "tags", store(), "-o", path("pulled.ks"), "--public-key", public_key_}),
              HasSubstr("is not signed"));
}

TEST_F(SignedSets, AForgedSignerIsNotShown) {
  const std::string snapshot = forged();
  const std::string reason = "the signature does not match";
  EXPECT_THAT(refusal(65, {"inspect", snapshot}), HasSubstr(reason));
  push(snapshot);
  EXPECT_THAT(refusal(65, {"pull", "tags", store(), "-o", path("pulled.ks")}), HasSubstr(reason));
  EXPECT_THAT(names_in(directory_.path()), Not(::testing::Contains("pulled.ks")));
}

// Stopped when it has checked the file and before it copies it, while another process writes to the file.
TEST_F(SignedSets, PublishPublishesTheBytesThatItHasChecked) {
  if (!can_trace()) GTEST_SKIP() << "may not trace a process";
  const std::string others = read(build_signed("others", "other.key"));
  ASSERT_EQ(others.size(), read(snapshot_).size());
  const std::string signed_bytes = read(snapshot_);
  TracedProcess process([&] {
    ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
    ::execl(KEYSIEVE_PROGRAM, "keysieve", "publish", "--directory", shared_memory().c_str(), "--public-key",
            public_key_.c_str(), snapshot_.c_str(), nullptr);
    return kUnexpected;
  });
  std::optional<std::uint64_t> call;
  do {
    call = process.next_call();
  } while (call && *call != SYS_flock);
  ASSERT_TRUE(call) << "it has locked nothing";
  std::fstream(snapshot_, std::ios::in | std::ios::out | std::ios::binary) << others;
  EXPECT_EQ(process.finish(), 0);
  EXPECT_TRUE(read(set_folder() + "/0000000000000001.ks") == signed_bytes);
}

TEST_F(SignedSets, UpdateSignsWithTheSameKey) {
  push(snapshot_);
  const std::string list = write("new", "one more\n");
  EXPECT_THAT(refusal(64, {"update", "tags", store(), "--add", list}), HasSubstr("would lose its signature"));
  EXPECT_THAT(refusal(65, {"update", "tags", store(), "--add", list, "--sign-key", path("other.key")}),
              HasSubstr("is signed by"));
  run({"update", "tags", store(), "--add", list, "--sign-key", path("sign.key")});
  run({"pull", "tags", store(), "-o", path("pulled.ks"), "--public-key", public_key_});
}

TEST_F(SignedSets, WrongKeysAreUsageErrors) {
  const std::string list = write("list", "a\n");
  expect_refusals(
      64, {{"publish tags.ks --public-key abc", "--public-key: is not a public key"},
           {"build --set tags " + list + " -o x.ks --kind bloom --counting --sign-key " + path("sign.key"),
            "--counting"}});
  EXPECT_THAT(refusal(66, {"build", "--set", "tags", list, "-o", path("x.ks"), "--sign-key", path("none")}),
              HasSubstr("none"));
}

}  // namespace
}  // namespace keysieve::test
