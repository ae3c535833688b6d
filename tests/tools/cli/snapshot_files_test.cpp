// Verbs that read a snapshot file: inspect, verify, and what every verb says of a file that is no snapshot.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "core/builder/snapshot/builder.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/snapshot/layout.hpp"
#include "core/worker/snapshot/snapshot.hpp"
#include "tests/support/signing_keys.hpp"
#include "tests/support/traced_process.hpp"
#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/signatures/public_keys.hpp"

namespace keysieve::test {
namespace {

using ::testing::MatchesRegex;

using Inspect = KeysieveProgram;

TEST_F(Inspect, ShowsTheHeaderOfASnapshot) {
  const std::string snapshot =
      build("tags", numbered_lines(20'000),
            {"--as-of", "2023-11-14T22:13:20Z", "--valid-for", "2d", "--key-profile", "nfkc, lower case"});
  EXPECT_THAT(
      said({"inspect", snapshot}),
      AllOf(HasSubstr(snapshot + ", all checksums right"), ContainsRegex("set +tags\n"),
            ContainsRegex("kind +split_block_bloom, k = 8\n"), ContainsRegex("keys +20,000 distinct\n"),
            ContainsRegex("target FPR +1.00 %\n"), ContainsRegex("as of +2023-11-14T22:13:20Z\n"),
            ContainsRegex("valid for +2d, until 2023-11-16T22:13:20Z\n"),
            ContainsRegex("key profile +nfkc, lower case\n")));
}

TEST_F(Inspect, ShowsTheSameAsJson) {
  const std::string snapshot = build("tags", numbered_lines(20'000),
                                     {"--as-of", "@1700000000", "--valid-for", "2d", "--key-profile", "nfkc",
                                      "--shard-size", "2KiB", "--kind", "bloom", "--fpr", "0.1%"});
  const Json report = inspect(snapshot);
  EXPECT_THAT(report, has({{"file", snapshot},
                           {"format", 1},
                           {"set", "tags"},
                           {"kind", "bloom"},
                           {"key_count", 20'000},
                           {"bytes", read(snapshot).size()},
                           {"target_fpr", 0.001},
                           {"as_of", 1'700'000'000},
                           {"valid_for_seconds", 172'800},
                           {"key_profile", "nfkc"}}));
  EXPECT_THAT(report.at("build_id").get<std::string>(), MatchesRegex("[0-9a-f]{32}"));
  EXPECT_THAT(report.at("seed").get<std::string>(), MatchesRegex("[0-9a-f]{32}"));
  EXPECT_GE(report.at("built_at"), 1'700'000'000);
  EXPECT_GT(report.at("shard_count"), 1);
  EXPECT_NEAR(report.at("estimated_fpr"), 0.001, 0.0002);
  EXPECT_NEAR(report.at("fill_ratio"), 0.5, 0.02);
  const double mean = report.at("keys_per_shard").at("mean");
  EXPECT_NEAR(mean, 20'000.0 / report.at("shard_count").get<double>(), 0.01);
  for (const auto& [spread, middle] :
       {std::pair{"keys_per_shard", "mean"}, {"shard_fill_ratios", "median"}}) {
    EXPECT_LE(report.at(spread).at("least"), report.at(spread).at(middle));
    EXPECT_GE(report.at(spread).at("most"), report.at(spread).at(middle));
  }
}

TEST_F(Inspect, ShowsKnownAbsentKeysAndTheRoomForThemInEachShard) {
  const std::string list = write("absent.txt", numbered_lines(50'000, "absent"));
  const std::string snapshot = build("tags", numbered_lines(5'000), {"--known-absent", list});
  const Json report = inspect(snapshot);
  EXPECT_THAT(report, has({{"key_count", 5'000}, {"known_absent_count", 50'000}, {"shard_bytes", 4'096}}));
  const int retrieval_bytes = report.at("retrieval_bytes");
  EXPECT_GT(retrieval_bytes, 0);
  const int shards = report.at("shard_count");
  EXPECT_GT(report.at("bytes"), shards * (4'096 + retrieval_bytes));
  EXPECT_LT(report.at("bytes"), shards * (4'096 + retrieval_bytes) + 3 * 4'096);
  EXPECT_THAT(said({"inspect", snapshot}),
              AllOf(ContainsRegex("\nknown absent +50,000 keys\n"),
                    ContainsRegex("\nshards +" + std::to_string(shards) + " of [45]\\.[0-9] KiB\n"),
                    Not(HasSubstr(" of 4.0 KiB"))));
}

TEST_F(Inspect, ShowsWhereTheLayerBeginsInTheAddsLogAndWhatWasNotGiven) {
  const std::string without = build("tags", "a\n");
  EXPECT_THAT(said({"inspect", without}),
              AllOf(ContainsRegex("adds from +0-0, the whole log\n"), ContainsRegex("valid for +no limit\n"),
                    ContainsRegex("key profile +none\n"), Not(HasSubstr("known absent"))));
  EXPECT_EQ(inspect(without).at("adds_from"), "0-0");
  const std::string with = build("tags", "a\n", {"--adds-from", "1700000000123-4"});
  EXPECT_THAT(said({"inspect", with}), ContainsRegex("adds from +1700000000123-4, 2023-11-14T22:13:20Z\n"));
  EXPECT_EQ(inspect(with).at("adds_from"), "1700000000123-4");
  const std::string last = "18446744073709551615-18446744073709551615";
  EXPECT_THAT(said({"inspect", build("tags", "a\n", {"--adds-from", last})}),
              ContainsRegex("adds from +" + last + "\n"));
}

class Verify : public KeysieveProgram {
 protected:
  const std::string snapshot_ = build("tags", numbered_lines(10'000));
};

TEST_F(Verify, FindsNoFalseNegativeAndMeasuresTheFalsePositiveRate) {
  const Words verify{"verify", snapshot_, "--keys", path("tags.txt")};
  EXPECT_THAT(said(verify), HasSubstr("none of 10,000 keys"));
  const std::string others = write("other.txt", numbered_lines(20'000, "other"));
  const Json report = json(verify + Words{"--absent", others});
  EXPECT_THAT(report, has({{"false_negatives", 0}, {"absent_keys", 20'000}, {"target_fpr", 0.01}}));
  const double estimated = report.at("estimated_fpr");
  // Five standard deviations of 20,000 tries at 1 %.
  EXPECT_NEAR(report.at("measured_fpr"), estimated, 0.0036);
}

// One in a hundred strangers is taken for a key, all six are not.
TEST_F(Verify, FailsWhenTheSnapshotIsOfOtherKeys) {
  EXPECT_THAT(refusal(65, {"verify", snapshot_, "--keys",
                           write("more.txt", numbered_lines(10'000) + "猫\n犬\n鳥\n魚\n虫\n草\n")}),
              AllOf(HasSubstr(snapshot_ + ": "),
                    HasSubstr(" of 10,006 keys from " + path("more.txt") + " came back as absent")));
}

TEST_F(Verify, ReadsKeysFromStandardInputToo) {
  EXPECT_THAT(said({"verify", snapshot_, "--keys", "-"}, "w0\nw1\n"), HasSubstr("none of 2 keys"));
  EXPECT_THAT(said({"verify", snapshot_, "--keys", "-", "--allow-cr"}, "w0\r\nw1\r\n"),
              HasSubstr("none of 2 keys"));
  EXPECT_THAT(said({"verify", snapshot_, "--keys", "-", "-0"}, std::string("w0\0w1", 5)),
              HasSubstr("none of 2 keys"));
}

TEST_F(Verify, RefusesListsWithoutKeysUnlessTheSetIsEmpty) {
  const std::string nothing = write("nothing.txt", "\n");
  EXPECT_THAT(said({"verify", build("empty", "", {"--min-keys", "0"}), "--keys", nothing}),
              HasSubstr("none of 0 keys"));
  EXPECT_EQ(refusal(65, {"verify", snapshot_, "--keys", nothing}), nothing + ": holds no keys");
  EXPECT_EQ(refusal(65, {"verify", snapshot_, "--keys", path("tags.txt"), "--absent", nothing}),
            nothing + ": holds no keys");
}

class VerifyKnownAbsentKeys : public Verify {
 protected:
  const std::string list_ = write("absent.txt", numbered_lines(5'000, "absent"));
  const std::string with_ = build("with", numbered_lines(10'000), {"--known-absent", list_});
  const Words verify_{"verify", with_, "--keys", path("with.txt")};
};

TEST_F(VerifyKnownAbsentKeys, FindsThemAllAbsent) {
  const Words arguments = verify_ + Words{"--known-absent", list_};
  EXPECT_THAT(said(arguments),
              AllOf(HasSubstr("none of 10,000 keys"),
                    ContainsRegex("\nknown absent +all 5,000 keys absent, or in the set\n")));
  EXPECT_THAT(json(arguments), has({{"false_negatives", 0}, {"known_absent_keys", 5'000}}));
  EXPECT_FALSE(json(verify_).contains("known_absent_keys"));
}

// About one in a hundred other keys comes back as maybe.
TEST_F(VerifyKnownAbsentKeys, FailsForAListThatTheBuildDidNotHave) {
  const std::string other = write("other.txt", numbered_lines(5'000, "other"));
  EXPECT_THAT(
      refusal(65, verify_ + Words{"--known-absent", other}),
      AllOf(StartsWith(with_ + ": "), HasSubstr(" of 5,000 keys known to be absent from " + other),
            EndsWith("came back as maybe: the snapshot was not built with this list as --known-absent")));
  EXPECT_NE(refusal(65, {"verify", snapshot_, "--keys", path("tags.txt"), "--known-absent", list_}), "");
}

TEST_F(VerifyKnownAbsentKeys, FindsNoFaultWithKeysInBothListsAndReadsStandardInputToo) {
  EXPECT_THAT(
      said(verify_ + Words{"--known-absent", "-"}, numbered_lines(10'000) + numbered_lines(5'000, "absent")),
      HasSubstr("all 15,000 keys absent, or in the set"));
}

// What was published before goes on answering.
class BadSnapshot : public KeysieveProgram {
 protected:
  BadSnapshot() {
    publish(build("old", numbered_lines(100) + "old\n"));
    push(path("old.ks"));
    build("new", numbered_lines(100) + "new\n", {"--like", path("old.ks")});
    bytes_ = read(path("new.ks"));
  }

  void expect_refused(const std::string& bytes, const std::string& reason) {
    const std::string bad = write("bad.ks", bytes);
    const auto names_the_reason = AllOf(StartsWith(bad + ": "), HasSubstr(reason));
    const std::vector<Words> calls{
        {"inspect", bad},
        {"verify", bad, "--keys", path("new.txt")},
        {"push", bad, store()},
        {"publish", bad},
    };
    for (const Words& call : calls) EXPECT_THAT(refusal(65, call), names_the_reason) << call[0];
    EXPECT_THAT(refusal(2, {"query", "--file", bad, "tags", "new"}), names_the_reason);
    EXPECT_EQ(answer("old"), "maybe");
    EXPECT_EQ(answer("new"), "absent");
    EXPECT_THAT(status_of_set(), has({{"publication", 1}}));
    EXPECT_THAT(pull(), has({{"generation", 1}}));
    EXPECT_EQ(read(path("pulled.ks")), read(path("old.ks")));
  }

  std::string bytes_;
};

TEST_F(BadSnapshot, IsRefusedByEveryVerb) {
  expect_refused(numbered_lines(2000), "no magic KEYSIEVE");
  bytes_.back() = static_cast<char>(bytes_.back() ^ 1);
  expect_refused(bytes_, "shards are damaged");
  EXPECT_THAT(
      refusal(65, {"build", "--set", "tags", "--like", path("new.txt"), path("new.txt"), "-o", "x.ks"}),
      StartsWith(path("new.txt") + ": is not a whole snapshot"));
}

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

TEST_F(SignedSets, PublishReplacesNothingLiveByWhatWasSignedBefore) {
  const std::string key = to_hex(signing_key('1').public_key());
  const auto publish = [&](const std::string& file) { return Words{"publish", file, "--public-key", key}; };
  const std::string older = signed_at(1'700'000'001, 1'700'000'007);
  run({"publish", older});
  run(publish(older));
  run(publish(signed_at(1'700'000'001, 1'700'000'008)));
  EXPECT_THAT(refusal(65, publish(older)), HasSubstr("2023-11-14T22:13:27Z, older than what is live, as of"));
  run({"publish", older});
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
