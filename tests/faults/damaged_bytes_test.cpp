// Snapshots with a changed byte, cut short, or damaged at random are refused with a reason. Nothing reads
// beyond the bytes (AddressSanitizer watches), and readers answer maybe.
#include <fstream>

#include "core/builder/base/log_positions.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/core/sample_snapshot.hpp"
#include "tests/core/shm/live_layer.hpp"
#include "tests/support/hash_key.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/soak.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/records/chunk.hpp"
#include "tools/records/pointer_record.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve::test {
namespace {

constexpr const char* kSource = "the-source";

// One of the 255 other values in each round; the first ones differ with the offset.
std::byte change_number(unsigned round, std::size_t offset) {
  return static_cast<std::byte>(1 + (round + offset) % 255);
}

// Calls `meet` with each of the first `bytes` changed, in so many rounds, then with every length but the
// right one. Reports how often that was.
template <typename Meet>
void for_each_damage(const std::string& good, std::size_t bytes, unsigned rounds, const Meet& meet) {
  for (std::size_t at = 0; at < bytes; ++at) {
    for (unsigned round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
      SCOPED_TRACE("offset " + std::to_string(at));
      std::string damaged = good;
      damaged[at] = static_cast<char>(static_cast<std::byte>(damaged[at]) ^ change_number(round, at));
      meet(damaged);
    }
  }
  for (std::size_t size = 0; size < good.size() && !::testing::Test::HasFailure(); ++size) {
    SCOPED_TRACE("size " + std::to_string(size));
    meet(good.substr(0, size));
  }
  meet(good + 'x');
  soak_report(bytes * rounds + good.size() + 1, "damages");
}

bool is_refused(Bytes bytes, Check check = Check::Everything) {
  try {
    SnapshotView::decode(bytes, kSource, check);
    return false;
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), StartsWith(std::string(kSource) + ": "));
    return true;
  }
}

// Looks up keys as a reader that does not check the shards: any answer is right, but it must come from
// these bytes.
void look_up_in(Bytes bytes) {
  const SnapshotView view = SnapshotView::decode(bytes, kSource, Check::Tables);
  std::array<KeyHash, 8> hashes;
  for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = hash_key("key", {i});
  std::array<bool, hashes.size()> answers{};
  for (const InstructionSet instructions : instruction_sets()) {
    view.kind()
        .lookup(view.shards().params, instructions)
        .may_contain_many(view.shards(), hashes, answers.data());
  }
}

// What of a snapshot is damaged before its shards is refused by readers too, which do not check those.
TEST(DamagedSnapshots, AreRefusedAndReadNoFurther) {
  for (const FilterKind& kind : filter_kinds()) {
    const SnapshotBytes snapshot = build_snapshot(
        {.set_name = "tags", .kind = &kind, .shard_bytes = kMinShardBytes}, numbered_keys("key", 100));
    const std::string good(as_text(snapshot.get()));
    ASSERT_FALSE(is_refused(snapshot.get()));
    const std::size_t tables_end = decode(snapshot).header().shards.offset;
    const auto meet = [&](const std::string& damaged) {
      // Each has its own allocation: AddressSanitizer sees the first byte that is read behind it.
      const SnapshotBytes copy = copy_of(as_bytes(damaged));
      const Bytes bytes = copy.get();
      ASSERT_TRUE(is_refused(bytes));
      if (is_refused(bytes, Check::Tables)) return;
      ASSERT_EQ(damaged.compare(0, tables_end, good, 0, tables_end), 0);
      look_up_in(bytes);
    };
    for_each_damage(good, good.size(), soak_rounds(1, 255), meet);
  }
}

// Control and live pages, met by a reader that already serves a publication. It answers maybe, or the byte
// has no meaning; it never answers anything else.

class DamagedPages : public LiveLayers {
 protected:
  DamagedPages() : LiveLayers(fast_folder()) {}

  [[nodiscard]] std::string bytes_of_file(const std::string& name) const {
    std::ifstream stream(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  // Does not overwrite the old bytes, which are mapped.
  void replace(const std::string& name, const std::string& bytes) const {
    std::ofstream(file("replacement"), std::ios::binary) << bytes;
    std::filesystem::rename(file("replacement"), file(name));
  }
  // Any change of the header up to its checksum, and any other length, must be refused.
  template <typename Header>
  static bool must_refuse(const std::string& damaged, const std::string& good) {
    constexpr std::size_t kHeader = offsetof(Header, header_checksum) + sizeof(std::uint64_t);
    return damaged.size() != good.size() || damaged.compare(0, kHeader, good, 0, kHeader) != 0;
  }
};

// A reader that had attached, or attaches now, either gives a reason or answers `absent` only for absent
// keys.
TEST_F(DamagedPages, ControlPageLeavesReadersTheirPublicationOrAReason) {
  publish("old");
  const std::string good = bytes_of_file(kControlName);
  ASSERT_EQ(good.size(), kPageBytes);
  const auto meet = [&](const std::string& bytes) {
    SetReader reader = this->reader();
    ASSERT_EQ(publication_seen_by(reader), 1U);
    replace(kControlName, bytes);
    reader.check_soon();
    const std::uint64_t seen = publication_seen_by(reader);
    EXPECT_TRUE(seen == 1 || !reader.reason().empty());
    EXPECT_TRUE(may_contain(reader, "old1"));
    SetReader newcomer = this->reader();
    const bool is_refused = newcomer.follow() == nullptr;
    EXPECT_EQ(is_refused, newcomer.reason() != "");
    EXPECT_TRUE(is_refused || !must_refuse<ControlPage>(bytes, good));
    replace(kControlName, good);
  };
  for_each_damage(good, good.size(), soak_rounds(1, 255), meet);
}

// The page's header names its publication and the layer behind it. The count of keys and the layer's bits
// change all the time and have no checksum.
TEST_F(DamagedPages, LiveLayerMakesReadersAnswerMaybe) {
  publish_with({});
  NewLayer layer = empty_layer(100);
  layer.add(hash("live1"));
  publish_with(layer);
  const std::string live = live_file_name(2);
  const std::string good = bytes_of_file(live);
  const auto meet = [&](const std::string& bytes) {
    const bool is_wrong = must_refuse<LivePage>(bytes, good);
    make_current_by_hand(1);
    SetReader reader = this->reader();
    ASSERT_EQ(publication_seen_by(reader), 1U);
    replace(live, bytes);
    make_current_by_hand(2);
    const std::uint64_t seen = publication_seen_by(reader);
    EXPECT_EQ(seen, is_wrong ? 0U : 2U) << reader.reason();
    EXPECT_TRUE(may_contain(reader, "base1"));
    EXPECT_EQ(may_contain(reader, "absent"), is_wrong);
    EXPECT_EQ(is_wrong, reader.reason() != "");
    EXPECT_EQ(failure_of([&] { static_cast<void>(publisher().open_layer()); }).has_value(), is_wrong)
        << "who adds to it";
  };
  for_each_damage(good, sizeof(LivePage), soak_rounds(1, 255), meet);
}

// Texts from a store or an operator (chunks, pointer records, configurations) with a byte changed or cut
// short. They are refused with a reason or mean the same; the reason never shows a password.

SnapshotBytes small_snapshot() {
  return build_snapshot({.set_name = "tags", .shard_bytes = kMinShardBytes}, numbered_keys("key", 50));
}

TEST(DamagedTexts, AreRefusedAsChunks) {
  const SnapshotBytes snapshot = small_snapshot();
  const std::string chunk = encode_chunk(3, snapshot.get());
  for_each_damage(chunk, chunk.size(), soak_rounds(1, 255), [&](const std::string& damaged) {
    ASSERT_THAT(
        message_of<ErrorKind::Data>([&] { decode_chunk(damaged, 3, snapshot.get().size(), "store: key"); }),
        StartsWith("store: key: is "));
  });
}

// A change of the checksum's own name changes nothing else.
TEST(DamagedTexts, AreRefusedOrMeanTheSameAsPointerRecords) {
  const SnapshotBytes snapshot = small_snapshot();
  PointerRecord record;
  record.current = describe(decode(snapshot));
  record.current->generation = 7;
  record.chunks_removed_to = {1};
  record.bypass_until = 1'700'000'000;
  const std::string text = encode(record);
  for_each_damage(text, text.size(), soak_rounds(8, 255), [&](const std::string& damaged) {
    try {
      ASSERT_EQ(decode_pointer_record(damaged, "store: key"), record) << damaged;
      ASSERT_THAT(damaged, Not(HasSubstr("\"record_checksum\":"))) << damaged;
    } catch (const Error& error) {
      ASSERT_THAT(error.what(), StartsWith("store: key: ")) << damaged;
    }
  });
}

const std::string kConfig = R"(directory = "/run/keysieve"
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
  for_each_damage(kConfig, kConfig.size(), soak_rounds(4, 255), [&](const std::string& damaged) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
    std::string shown;
    try {
      for (const StoreConfig& store : load_config(path).stores) shown += store.shown;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Config) throw;
      shown = error.what();
      ASSERT_THAT(shown, StartsWith(path));
    }
    // Without the colon it is the end of a user's name.
    if (damaged.find(":s3cret") != std::string::npos) {
      ASSERT_THAT(shown, Not(HasSubstr("s3cret"))) << damaged;
    }
  });
}

}  // namespace
}  // namespace keysieve::test
