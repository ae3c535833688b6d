#include "tests/support/redis_server.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Push : public KeysieveProgram {
 protected:
  void push(const std::string& snapshot) const { static_cast<void>(said({"push", snapshot, store()})); }
  [[nodiscard]] int generation() const {
    return json({"pull", store(), "tags", "-o", path("pulled.ks")}).at("generation");
  }
};

TEST_F(Push, AllotsTheNextGeneration) {
  const std::string snapshot = build("tags", numbered_lines(20'000));
  const Json first = json({"push", snapshot, store()});
  EXPECT_EQ(first.at("store"), store());
  EXPECT_EQ(first.at("generation"), 1);
  EXPECT_EQ(first.at("key_count"), 20'000);
  EXPECT_EQ(first.at("bytes"), read(snapshot).size());
  build("next", numbered_lines(20'000), {"--like", store()});
  EXPECT_THAT(
      said({"push", path("next.ks"), store()}),
      AllOf(ContainsRegex("generation +2\n"), ContainsRegex("keys +20,000\n"), HasSubstr(" chunks\n")));
}

TEST_F(Push, WarnsWhenGeometryOrSeedChange) {
  push(build("tags", numbered_lines(100)));
  const ProgramResult result =
      keysieve({"push", build("next", numbered_lines(100), {"--kind", "bloom"}), store()});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.errors, AllOf(HasSubstr("keysieve: warning: "), HasSubstr("seed"), HasSubstr("bloom")));
}

TEST_F(Push, RefusesCountersOfAnotherBuild) {
  const Words counting{"--kind", "bloom", "--counting"};
  const std::string snapshot = build("tags", numbered_lines(100), counting);
  const std::string counters = read(snapshot + ".counters");
  build("tags", numbered_lines(100), counting);
  write("tags.ks.counters", counters);
  EXPECT_THAT(refusal(65, {"push", snapshot, store()}),
              AllOf(StartsWith(path("tags.ks.counters") + ": holds the counters of another build: "),
                    HasSubstr("; build again with --counting, or remove " + path("tags.ks.counters"))));
  write("tags.ks.counters", "");
  EXPECT_THAT(refusal(65, {"push", snapshot, store()}), HasSubstr("tags.ks.counters: is empty"));
}

TEST_F(Push, RefusesAListThatShrankAndKeepsTheOldGeneration) {
  push(build("tags", numbered_lines(1000)));
  const std::string shrunk = build("shrunk", numbered_lines(500), {"--seed-from", path("tags.ks")});
  EXPECT_THAT(refusal(65, {"push", shrunk, store()}),
              AllOf(HasSubstr("from 1,000 to 500 keys"), HasSubstr("--allow-shrink")));
  EXPECT_EQ(generation(), 1);
  EXPECT_EQ(read(path("pulled.ks")), read(path("tags.ks")));
  static_cast<void>(said({"push", "--allow-shrink", shrunk, store()}));
  EXPECT_EQ(generation(), 2);
}

TEST_F(Push, HoldsTheOtherGuardsToo) {
  const std::string snapshot = build("tags", numbered_lines(5000));
  EXPECT_THAT(refusal(65, {"push", "--min-keys", "5001", snapshot, store()}), HasSubstr("fewer than 5,001"));
  EXPECT_THAT(refusal(65, {"push", "--max-fpr", "0.01%", snapshot, store()}), HasSubstr("above 0.0100 %"));
  EXPECT_THAT(
      refusal(65, {"push", "--canaries", write("canaries.txt", "猫\n犬\n鳥\n魚\n虫\n"), snapshot, store()}),
      HasSubstr("canary \""));
  EXPECT_EQ(refusal(66, {"pull", store(), "tags", "-o", path("pulled.ks")}),
            store() + ": set \"tags\" was never pushed");
  static_cast<void>(said({"push", "--min-keys", "5000", "--max-fpr", "2%", "--canaries",
                          write("canaries.txt", "w1\nw4999\n"), snapshot, store()}));
}

TEST_F(Push, NamesAFileThatIsMissing) {
  EXPECT_EQ(refusal(66, {"push", path("none.ks"), store()}), path("none.ks") + ": No such file or directory");
}

TEST_F(Push, NamesAStoreThatIsNoStore) {
  const std::string snapshot = build("tags", "a\n");
  EXPECT_THAT(refusal(64, {"push", snapshot, "/var/lib/keysieve"}),
              HasSubstr("a store's URL begins with lmdb:, dir:, redis:, redis+unix:, redis-cluster:, "
                        "redis-sentinel:, rediss:, rediss-cluster: or rediss-sentinel:"));
  EXPECT_THAT(refusal(64, {"push", snapshot, "lmdb:relative"}), StartsWith("lmdb:relative: "));
  EXPECT_THAT(refusal(64, {"push", snapshot, "dir:/tmp?prefx=a"}), HasSubstr("parameter prefx is not known"));
}

TEST_F(Push, SaysThatAStoreCannotBeReached) {
  const std::string snapshot = build("tags", "a\n");
  EXPECT_EQ(refusal(69, {"push", snapshot, "redis+unix://" + path("none.sock")}),
            "redis+unix://" + path("none.sock") + ": cannot connect: No such file or directory");
  for (const std::string scheme : {"lmdb:", "dir:"}) {
    EXPECT_THAT(refusal(69, {"push", snapshot, scheme + path("no/store")}),
                AllOf(StartsWith(scheme + path("no/store") + ": "), HasSubstr("No such file or directory")));
  }
}

TEST_F(Push, NeverShowsThePasswordOfAStoreThatCannotBeReached) {
  const std::string snapshot = build("tags", "a\n");
  const std::string url = "redis://app:s3cret@127.0.0.1:1/2";
  const std::vector<Words> calls{
      {"push", snapshot, url},
      {"pull", url, "tags", "-o", path("new.ks")},
      {"build", "--set", "tags", "--store", url, path("tags.txt"), "-o", path("new.ks")},
      {"build", "--set", "tags", "--like", url, path("tags.txt"), "-o", path("new.ks")}};
  for (const Words& call : calls) {
    EXPECT_EQ(refusal(69, call), "redis://app@127.0.0.1:1/2: cannot connect: Connection refused") << call[0];
  }
}

TEST_F(Push, NeverShowsAPasswordInAUrlThatIsWrong) {
  const std::string snapshot = build("tags", "a\n");
  for (const char* url : {"redis:app:s3cret@host", "redis://app:s3cret@host:port", "redis://app:s3cret/@host",
                          "redis://app:s3cret@host?prefx=1", "redis://app:s3cret@host/?prefix=*",
                          "redis://app:s3cret@host/nine", "rediss://app:s3cret@127.0.0.1:1?cert_file=/f",
                          "mysql://app:s3cret@host"}) {
    const ProgramResult result = keysieve({"push", snapshot, url});
    EXPECT_EQ(result.exit_status, 64) << url << "\n" << result.errors;
    EXPECT_THAT(result.output + result.errors, AllOf(StartsWith("keysieve: "), Not(HasSubstr("s3cret"))))
        << url;
  }
}

TEST_F(Push, SignsInWithAPasswordFromUrlFileOrEnvironment) {
  const RedisServer server({"--requirepass", "s3cret"});
  const std::string address = "127.0.0.1:" + std::to_string(server.port());
  const std::string snapshot = build("tags", "a\n");
  static_cast<void>(said({"push", snapshot, "redis://:s3cret@" + address}));
  static_cast<void>(
      said({"push", snapshot, "redis://" + address + "?password_file=" + write("password", "s3cret\n")}));
  ProgramCall call = call_of({"push", snapshot, "redis://" + address});
  call.environment.back() = "KEYSIEVE_REDIS_PASSWORD=s3cret";
  EXPECT_EQ(run_program(call).exit_status, 0);
}

TEST_F(Push, RefusesAWrongPasswordWithoutShowingIt) {
  const RedisServer server({"--requirepass", "s3cret"});
  const std::string snapshot = build("tags", "a\n");
  const std::string address = "127.0.0.1:" + std::to_string(server.port());
  for (const char* verb : {"push", "pull"}) {
    const std::string url = "redis://:wr0ng@" + address;
    const Words arguments = verb == std::string("push") ? Words{"push", snapshot, url}
                                                        : Words{"pull", url, "tags", "-o", path("new.ks")};
    EXPECT_THAT(refusal(77, arguments),
                AllOf(StartsWith("redis://" + address + ": the server refuses user or password"),
                      Not(HasSubstr("wr0ng")), Not(HasSubstr("s3cret"))));
  }
  EXPECT_THAT(refusal(77, {"push", snapshot, "redis://" + address}), HasSubstr("NOAUTH"));
}

}  // namespace
}  // namespace keysieve::test
