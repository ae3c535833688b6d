// A host's clock moves by a day, forwards and backwards, while everything runs there: builder, push, writer
// of adds, keysieved and reader.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/support/run_program.hpp"
#include "tests/support/soak.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"

namespace keysieve::test {
namespace {

std::string libfaketime() {
  for (const auto& folder : std::filesystem::directory_iterator("/usr/lib")) {
    const auto path = folder.path() / "faketime/libfaketimeMT.so.1";
    std::error_code none;
    if (std::filesystem::exists(path, none)) return path.string();
  }
  throw std::runtime_error("libfaketime is missing; is the package faketime installed?");
}

class MovedClock : public Keysieved {
 protected:
  // Sets the clock to "+1d", "-1d" or "+0d" from now on.
  void move_clock(const std::string& by) {
    if (clock_ != by) ++moves_;
    clock_ = by;
    site_.write("clock.new", by);
    std::filesystem::rename(site_.root() / "clock.new", site_.root() / "clock");
  }
  [[nodiscard]] std::vector<std::string> environment() const {
    return {"LD_PRELOAD=" + libfaketime(), "FAKETIME_TIMESTAMP_FILE=" + (site_.root() / "clock"),
            "FAKETIME_NO_CACHE=1", "DONT_FAKE_MONOTONIC=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"};
  }
  void must(std::vector<std::string> arguments) const {
    const ProgramResult result = run_program(
        {.program = KEYSIEVE_PROGRAM, .arguments = std::move(arguments), .environment = environment()});
    EXPECT_EQ(result.exit_status, 0) << result.errors;
  }
  void build(int keys, std::vector<std::string> options) const {
    std::string list;
    for (int i = 0; i < keys; ++i) list += key_number(i) + "\n";
    site_.write("keys", list);
    std::vector<std::string> arguments{"build", "--set", "tags", site_.root() / "keys", "-o", snapshot()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    must(std::move(arguments));
  }
  [[nodiscard]] std::string snapshot() const { return site_.root() / "tags.ks"; }

  std::string clock_ = "+0d";
  unsigned moves_ = 0;
};

TEST_F(MovedClock, LosesNoKeyAndDelaysNone) {
  site_.configure(tags_set);
  move_clock("+0d");
  int keys = 1000;
  const auto push = [&] {
    build(keys, {"--like", site_.store_url()});
    must({"push", snapshot(), site_.store_url()});
  };
  push();
  keysieved_.emplace(std::vector<std::string>{"--config", site_.config_path()}, environment());
  ASSERT_TRUE(follows("tags", 1)) << log();
  std::uint64_t generation = 1;
  const unsigned rounds = soak_rounds(1, 20);
  for (unsigned round = 0; round < rounds && !HasFailure(); ++round) {
    for (const char* clock :
         {"+0d", "+1d", "+1d", "+1d", "+1d", "+0d", "-1d", "-1d", "-1d", "-1d", "+1d", "-1d"}) {
      if (HasFailure()) return;
      move_clock(clock);
      must({"add", "tags", key_number(keys), site_.store_url()});
      ++keys;
      EXPECT_TRUE(eventually([&] { return site_.knows("tags", {0, keys}); })) << clock << log();
      push();
      EXPECT_TRUE(follows("tags", ++generation)) << clock << log();
      EXPECT_TRUE(site_.knows("tags", {0, keys})) << clock << log();
    }
  }
  soak_report(moves_, "moves of the clock");
}

}  // namespace
}  // namespace keysieve::test
