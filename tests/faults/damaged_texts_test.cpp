// Texts from a store or an operator (chunks, pointer records, configurations) with a byte changed or cut
// short. They are refused with a reason or mean the same; the reason never shows a password.

#include <fstream>

#include "core/builder/base/log_positions.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/core/sample_snapshot.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/soak.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/transfer/chunk.hpp"
#include "tools/transfer/pointer_record.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve::test {
namespace {

// Calls visit(text) with every text that has one byte changed, in `rounds` ways, then with every beginning.
// Returns the number of calls.
template <typename Visit>
std::uint64_t for_each_damage(const std::string& text, unsigned rounds, Visit visit) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (unsigned round = 0; round < rounds; ++round) {
      std::string damaged = text;
      const auto change = static_cast<unsigned char>(1 + (round + at) % 255);
      damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ change);
      visit(damaged);
    }
  }
  for (std::size_t size = 0; size < text.size(); ++size) visit(text.substr(0, size));
  return text.size() * (rounds + 1);
}

SnapshotBytes small_snapshot() {
  return build_snapshot({.set_name = "tags", .shard_bytes = kMinShardBytes}, numbered_keys("key", 50));
}

TEST(DamagedTexts, AreRefusedAsChunks) {
  const SnapshotBytes snapshot = small_snapshot();
  const std::string chunk = encode_chunk(3, snapshot.get());
  const std::uint64_t tried = for_each_damage(chunk, soak_rounds(1, 255), [&](const std::string& damaged) {
    ASSERT_THAT(
        message_of<ErrorKind::Data>([&] { decode_chunk(damaged, 3, snapshot.get().size(), "store: key"); }),
        StartsWith("store: key: is "));
  });
  soak_report("chunks, a byte changed or cut short: " + std::to_string(tried) + ", all refused");
}

// A change of the checksum's own name changes nothing else.
TEST(DamagedTexts, AreRefusedOrMeanTheSameAsPointerRecords) {
  const SnapshotBytes snapshot = small_snapshot();
  PointerRecord record;
  record.current = describe(decode(snapshot));
  record.current->generation = 7;
  record.pending = {{PushId{1}, 12, 1'700'000'000, log_position(5, 6)}};
  record.garbage = {{PushId{2}, 13}};
  const std::string text = encode(record);
  std::uint64_t same = 0;
  const std::uint64_t tried = for_each_damage(text, soak_rounds(8, 255), [&](const std::string& damaged) {
    try {
      ASSERT_EQ(decode_pointer_record(damaged, "store: key"), record) << damaged;
      ASSERT_THAT(damaged, Not(HasSubstr("\"record_checksum\":"))) << damaged;
      ++same;
    } catch (const Error& error) {
      ASSERT_THAT(error.what(), StartsWith("store: key: ")) << damaged;
    }
  });
  soak_report("pointer records, a byte changed or cut short: " + std::to_string(tried) + ", " +
              std::to_string(tried - same) + " refused, " + std::to_string(same) + " mean the same");
}

constexpr const char* kConfig = R"(directory = "/run/keysieve"
cache = "/var/cache/keysieve"
group = "root"
poll_interval = "5s"
max_total_size = "1GiB"
log_level = "info"
[store.main]
url = "redis://app:s3cret@127.0.0.1:6379/0?prefix=ks&timeout=2s"
[store.other]
url = "lmdb:/var/lib/keysieve"
[[set]]
name = "tags"
store = "main"
max_fpr = 0.02
max_size = "64MiB"
max_shrink = "20%"
min_keys = 10
)";

// The daemon keeps its old configuration: Keysieved.KeepsTheOldConfigurationWhenTheNewOneIsWrong.
TEST(DamagedTexts, AreRefusedOrMeanSomethingElseAsConfigurations) {
  const TemporaryDirectory directory(fast_folder());
  const std::string path = directory / "keysieve.toml";
  std::uint64_t refused = 0;
  const std::uint64_t tried = for_each_damage(kConfig, soak_rounds(4, 255), [&](const std::string& damaged) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
    std::string shown;
    try {
      for (const StoreConfig& store : load_config(path).stores) shown += store.shown;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Config) throw;
      ++refused;
      shown = error.what();
      ASSERT_THAT(shown, StartsWith(path));
    }
    // Without the colon it is the end of a user's name.
    if (damaged.find(":s3cret") != std::string::npos) {
      ASSERT_THAT(shown, Not(HasSubstr("s3cret"))) << damaged;
    }
  });
  soak_report("configurations, a byte changed or cut short: " + std::to_string(tried) + ", " +
              std::to_string(refused) + " refused, the others mean what they say; no password shown");
}

}  // namespace
}  // namespace keysieve::test
