#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "core/builder/snapshot/builder.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/snapshot/snapshot.hpp"
#include "tests/support/signing_keys.hpp"
#include "tests/support/traced_process.hpp"
#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/signatures/public_keys.hpp"

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

  // A snapshot of set "tags", or another one, that was signed by one of the keys of signing_keys.hpp.
  std::string signed_at(UnixSeconds as_of, UnixSeconds built_at, char digit = '1',
                        const std::string& set_name = "tags") const {
    const SigningKey key = signing_key(digit);
    SnapshotBuilder builder({.set_name = set_name, .as_of = as_of, .built_at = built_at, .signer = &key});
    builder.add("a");
    const SnapshotBytes bytes = builder.finish();
    const std::string name = set_name + std::to_string(as_of) + "-" + std::to_string(built_at) + digit;
    return write(name, std::string(as_text(bytes.get())));
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

TEST_F(SignedSets, AForgedSignerIsNotShown) {
  const std::string snapshot = forged();
  const std::string reason = "the signature does not match";
  EXPECT_THAT(refusal(65, {"inspect", snapshot}), HasSubstr(reason));
  push(snapshot);
  EXPECT_THAT(refusal(65, {"pull", "tags", store(), "-o", path("pulled.ks")}), HasSubstr(reason));
  EXPECT_THAT(names_in(directory_.path()), Not(::testing::Contains("pulled.ks")));
}

TEST_F(SignedSets, PullReplacesNoFileByWhatWasSignedBefore) {
  const std::string pulled = path("pulled.ks");
  const Words call{"pull", "tags", store(), "-o", pulled};
  const Words checked = call + Words{"--public-key", to_hex(signing_key('1').public_key())};
  const std::string newer = signed_at(1'700'000'001, 1'700'000'008);
  push(newer);
  run(checked);
  run(checked);
  for (const auto& [as_of, built_at] : {std::pair{0, 9}, {1, 7}}) {
    const std::string older = signed_at(1'700'000'000 + as_of, 1'700'000'000 + built_at);
    run({"push", "--allow-any-as-of", older, store()});
    const std::string begin = "as of 2023-11-14T22:13:2";
    EXPECT_THAT(refusal(65, checked),
                AllOf(HasSubstr(begin + std::to_string(as_of) + "Z, built at 2023-11-14T22:13:2" +
                                std::to_string(built_at) + "Z, older than " + pulled),
                      HasSubstr(begin + "1Z, built at 2023-11-14T22:13:28Z")));
    EXPECT_EQ(read(pulled), read(newer));
  }
  // Nothing that the key has signed of this set.
  for (const std::string& file :
       {signed_at(1'700'000'001, 1'700'000'008, '2'), signed_at(1'700'000'001, 1'700'000'008, '1', "shop"),
        write("text", "猫")}) {
    write("pulled.ks", read(file));
    run(checked);
  }
  write("pulled.ks", read(newer));
  run(call);
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

TEST_F(SignedSets, WrongKeysAreUsageErrors) {
  const std::string list = write("list", "a\n");
  expect_refusals(64, {{"publish tags.ks --public-key abc", "--public-key: is not a public key"}});
  EXPECT_THAT(refusal(66, {"build", "--set", "tags", list, "-o", path("x.ks"), "--sign-key", path("none")}),
              HasSubstr("none"));
}

}  // namespace
}  // namespace keysieve::test
