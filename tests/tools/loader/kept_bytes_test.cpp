// The bytes of what hosts and stores keep while keysieved is upgraded, in tests/golden: logs, what a host has
// read of one, the state of its cache, and what hosts send each other of a seen set. A file that no longer
// matches means that the next version forgets what the last one has kept. For a new file, set
// KEYSIEVE_WRITE_GOLDEN=1.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/builder/base/file_io.hpp"
#include "core/builder/base/log_positions.hpp"
#include "core/worker/base/mapped_region.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/loader/adds/adds_mirror.hpp"
#include "tools/loader/refresh/set_cache.hpp"
#include "tools/loader/seen/seen_log.hpp"

namespace keysieve::test {
namespace {

using namespace std::string_literals;

std::string bytes_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

class KeptBytes : public ::testing::Test {
 protected:
  static std::string golden(const std::string& name) { return KEYSIEVE_GOLDEN_DIRECTORY "/" + name; }
  static void expect_golden(const std::string& written, const std::string& name) {
    if (std::getenv("KEYSIEVE_WRITE_GOLDEN") != nullptr)
      std::ofstream(golden(name), std::ios::binary) << written;
    EXPECT_EQ(written, bytes_in(golden(name)));
  }
  // Copies that file to a folder that no other user has access to.
  std::string copied(const std::string& name, const std::string& as) const {
    std::ofstream(old_ / as, std::ios::binary) << bytes_in(golden(name));
    std::filesystem::permissions(old_ / as,
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    return old_ / as;
  }

  TemporaryDirectory new_;
  TemporaryDirectory old_;
  const std::vector<LogEntry> entries_{{log_position(2'000, 0), "apple", 1},
                                       {log_position(2'000, 1), "猫\0\xff"s, 2}};
};

TEST_F(KeptBytes, OfALogInAFileNeverChange) {
  LogFile log(new_ / "log");
  log.begin(1'000);
  log.append(entries_);
  log.move_end(3'000);
  expect_golden(bytes_in(new_ / "log"), "log");

  LogFile kept(copied("log", "log"));
  EXPECT_EQ(kept.read_after({}, 10), entries_);
  const LogFacts facts = kept.facts();
  EXPECT_EQ(facts.begun, log_position(1'000, 0));
  EXPECT_EQ(facts.end, log_position(3'000, 0));
  EXPECT_EQ(facts.count, 2U);
}

TEST_F(KeptBytes, OfTheMirrorOfALogNeverChange) {
  const KnownLog known{.witness = {.begun = log_position(1'000, 0),
                                   .position = log_position(2'000, 1),
                                   .lost_to = log_position(500, 3),
                                   .ordinal = 7},
                       .behind_since = log_position(4'000, 0),
                       .is_gone = 1};
  AddsMirror mirror(new_ / "tags.adds");
  mirror.merge(entries_);
  mirror.know(known);
  mirror.save();
  expect_golden(bytes_in(new_ / "tags.adds"), "mirror");

  AddsMirror kept(copied("mirror", "tags.adds"));
  kept.load();
  std::vector<std::string> keys;
  kept.visit_after({}, [&](std::string_view key) { keys.emplace_back(key); });
  EXPECT_THAT(keys, ::testing::ElementsAre(entries_[0].key, entries_[1].key));
  EXPECT_EQ(kept.known_log(), known);
}

TEST_F(KeptBytes, OfTheStateOfACacheNeverChange) {
  const PublicKeys signers{{1, 2, 3}, {4, 5, 6}};
  const std::string snapshot = bytes_in(golden("bloom.ks"));
  SetCache cache(new_.path(), "golden-set", signers);
  cache.has_seen({{.as_of = 1'400'000'000, .built_at = 1'400'000'060}, signers[1]});
  cache.save(7, as_bytes(snapshot));
  expect_golden(bytes_in(cache.path_of(".state")), "cache_state");

  copied("cache_state", "golden-set.state");
  copied("bloom.ks", "golden-set.ks");
  SetCache kept(old_.path(), "golden-set", signers);
  const auto found = kept.find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->generation, 7U);
  EXPECT_EQ(to_hex(found->build_id), "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf");
  kept.read_seen();
  EXPECT_EQ(kept.newest(), (SnapshotMoment{1'400'000'000, 1'400'000'060}));
}

TEST_F(KeptBytes, OfAnEntryInTheLogOfASeenSetNeverChange) {
  const SeenLogEntry entry{
      .seed = {0x0123456789abcdef, 0xfedcba9876543210},
      .sender = 0x1122334455667788,
      .number = 3,
      .ended_at = 1'400'000'600,
      .plan = {.window = {.begins = 1'400'000'000, .ends = 1'400'000'600, .kept_for = 1'200},
               .growth = 1,
               .capacity = 2'000,
               .rate = 0.001,
               .size = {.words = 1'024, .block_words = kLeastBlockWords}},
      .host = "web1",
      .tags = {{.block = 0, .tag = 0x0123456789abcde},
               {.block = 200, .tag = 5, .bits = tag_bits(kMostTags)}}};
  expect_golden(encode(entry), "seen_log_entry");
  EXPECT_EQ(decode_seen_log_entry(bytes_in(golden("seen_log_entry")), "golden"), entry);
}

}  // namespace
}  // namespace keysieve::test
