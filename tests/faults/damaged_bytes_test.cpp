// Snapshots with a changed byte, cut short, or damaged at random are refused with a reason. Nothing reads
// beyond the bytes (AddressSanitizer watches), and readers answer maybe.
#include <fstream>
#include <random>

#include "core/builder/base/log_positions.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/core/sample_snapshot.hpp"
#include "tests/core/shm/live_layer.hpp"
#include "tests/core/shm/shared_memory.hpp"
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

// Every change of a byte, or the first few, which differ with the offset.
std::byte change_number(unsigned round, std::size_t offset) {
  return static_cast<std::byte>(1 + (round + offset) % 255);
}

SnapshotBytes copy_of(Bytes bytes) {
  SnapshotBytes copy(std::max<std::size_t>(bytes.size(), 1));
  std::copy(bytes.begin(), bytes.end(), copy.get().begin());
  return copy;
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

class DamagedSnapshots : public SharedMemory {
 protected:
  DamagedSnapshots() : SharedMemory(fast_folder()) {}

  static SnapshotBytes small_snapshot_of(const FilterKind& kind) {
    return snapshot_of("key", {.set_name = kSet, .kind = &kind});
  }
};

TEST_F(DamagedSnapshots, AreRefusedAtEveryLengthButTheRightOne) {
  std::uint64_t lengths = 0;
  for (const FilterKind& kind : filter_kinds()) {
    const SnapshotBytes whole = small_snapshot_of(kind);
    ASSERT_FALSE(is_refused(whole.get()));
    for (std::size_t size = 0; size < whole.get().size(); ++size, ++lengths) {
      // Each has its own allocation: AddressSanitizer sees the first byte that is read behind it.
      const SnapshotBytes cut = copy_of(whole.get().first(size));
      ASSERT_TRUE(is_refused(cut.get().first(size))) << kind.name << " " << size;
    }
  }
  soak_report("snapshots of every kind, cut short: " + std::to_string(lengths) + " lengths, all refused");
}

TEST_F(DamagedSnapshots, AreRefusedWithAnyByteChanged) {
  const unsigned rounds = soak_rounds(1, 255);
  std::uint64_t changes = 0;
  std::uint64_t unread = 0;
  for (const FilterKind& kind : filter_kinds()) {
    SnapshotBytes snapshot = small_snapshot_of(kind);
    for (std::size_t at = 0; at < snapshot.get().size(); ++at) {
      for (unsigned round = 0; round < rounds; ++round, ++changes) {
        const std::byte change = change_number(round, at);
        snapshot.get()[at] ^= change;
        ASSERT_TRUE(is_refused(snapshot.get())) << kind.name << " offset " << at;
        if (!is_refused(snapshot.get(), Check::Tables)) {
          look_up_in(snapshot.get());
          ++unread;
        }
        snapshot.get()[at] ^= change;
      }
    }
    ASSERT_FALSE(is_refused(snapshot.get()));
  }
  soak_report("snapshots of every kind, a byte changed: " + std::to_string(changes) +
              " changes, all refused; " + std::to_string(unread) +
              " of them in shards, looked up in without leaving the bytes");
}

TEST_F(DamagedSnapshots, AreRefusedWhenLargeAndDamagedAtRandom) {
  const unsigned rounds = soak_rounds(20, 2'000);
  std::mt19937_64 random(7);
  for (const FilterKind& kind : filter_kinds()) {
    SnapshotBytes snapshot = build_snapshot({.set_name = kSet, .kind = &kind}, numbered_keys("key", 200'000));
    const std::size_t size = snapshot.get().size();
    for (unsigned round = 0; round < rounds; ++round) {
      const std::size_t at = random() % size;
      const SnapshotBytes cut = copy_of(std::as_const(snapshot).get().first(at));
      ASSERT_TRUE(is_refused(cut.get().first(at))) << kind.name << " " << at;
      const std::byte change = change_number(round, at);
      snapshot.get()[at] ^= change;
      ASSERT_TRUE(is_refused(snapshot.get())) << kind.name << " offset " << at;
      snapshot.get()[at] ^= change;
    }
    ASSERT_FALSE(is_refused(snapshot.get()));
  }
  soak_report("large snapshots of every kind: " + std::to_string(rounds) +
              " changed bytes and as many lengths each, all refused");
}

TEST_F(DamagedSnapshots, AreNotPublished) {
  const std::size_t step = soak_rounds(211, 1);
  std::uint64_t tried = 0;
  const std::uint64_t before = publish("old");
  SetReader reader = this->reader();
  Publisher publisher = this->publisher();
  for (const FilterKind& kind : filter_kinds()) {
    SnapshotBytes snapshot = small_snapshot_of(kind);
    for (std::size_t at = drawn_offset(step); at < snapshot.get().size(); at += step, ++tried) {
      snapshot.get()[at] ^= change_number(0, at);
      ASSERT_THAT([&] { publisher.publish(snapshot.get(), 2); }, ThrowsMessage<Error>(HasSubstr(kSet))) << at;
      snapshot.get()[at] ^= change_number(0, at);
      ASSERT_EQ(publication_seen_by(reader), before);
    }
  }
  EXPECT_TRUE(may_contain(reader, "old1"));
  EXPECT_FALSE(may_contain(reader, "key1"));
  soak_report("damaged snapshots given to the publisher: " + std::to_string(tried) +
              ", all refused, the publication before stays live");
}

// Publishes without checks, as if a publisher's memory or a disk had damaged the snapshot afterwards.
TEST_F(DamagedSnapshots, MakeReadersAnswerMaybe) {
  const std::size_t step = soak_rounds(211, 1);
  const std::uint64_t before = publish("old");
  SetReader reader = this->reader();
  EXPECT_EQ(publication_seen_by(reader), before);
  std::uint64_t publication = before;
  for (const FilterKind& kind : filter_kinds()) {
    SnapshotBytes snapshot = small_snapshot_of(kind);
    const std::size_t tables_end =
        SnapshotView::decode(snapshot.get(), kSource, Check::Tables).header().shards.offset;
    for (std::size_t at = drawn_offset(step); at < tables_end; at += step) {
      snapshot.get()[at] ^= change_number(0, at);
      publish_by_hand(++publication, snapshot.get());
      snapshot.get()[at] ^= change_number(0, at);
      ASSERT_EQ(publication_seen_by(reader), 0U) << kind.name << " offset " << at;
      ASSERT_THAT(reader.reason(), HasSubstr(file(snapshot_file_name(publication))));
      make_current_by_hand(before);
      std::filesystem::remove(file(snapshot_file_name(publication)));
      std::filesystem::remove(file(live_file_name(publication)));
    }
  }
  EXPECT_TRUE(may_contain(reader, "old1"));
  EXPECT_FALSE(may_contain(reader, "key1"));
  soak_report("damaged headers and tables put in the place of a publication: " +
              std::to_string(publication - before) + ", all refused by readers, which answer maybe");
}

// Control and live pages with a changed byte or cut short, met by a reader that already serves a
// publication. It answers maybe, or the byte has no meaning; it never answers anything else.

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
  // Calls meet(bytes, whether they must be refused) for every changed byte and every other length. Any
  // change of the header up to its checksum must be refused. Returns the number of calls.
  template <typename Header, typename Meet>
  static std::uint64_t for_each_damage(const std::string& good, std::size_t bytes, const Meet& meet) {
    std::uint64_t tried = 0;
    for (std::size_t at = 0; at < bytes; ++at) {
      const bool is_header = at < offsetof(Header, header_checksum) + sizeof(std::uint64_t);
      for (unsigned round = 0; round < soak_rounds(1, 255) && !HasFailure(); ++round, ++tried) {
        SCOPED_TRACE("offset " + std::to_string(at));
        meet(changed(good, at, round), is_header);
      }
    }
    for (std::size_t size = 0; size < good.size() && !HasFailure(); ++size, ++tried) {
      SCOPED_TRACE("size " + std::to_string(size));
      meet(good.substr(0, size), true);
    }
    meet(good + '\0', true);
    return tried + 1;
  }

 private:
  // Changes the byte to another of the 255 values in each round; the first ones differ with the offset.
  static std::string changed(std::string bytes, std::size_t at, unsigned round) {
    bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1 + (round + at) % 255));
    return bytes;
  }
};

// A reader that had attached, or attaches now, either gives a reason or answers `absent` only for absent
// keys.
TEST_F(DamagedPages, ControlPageLeavesReadersTheirPublicationOrAReason) {
  publish("old");
  const std::string good = bytes_of_file(kControlName);
  ASSERT_EQ(good.size(), kPageBytes);
  std::uint64_t refused = 0;
  const auto meet = [&](const std::string& bytes, bool must_refuse) {
    SetReader reader = this->reader();
    ASSERT_EQ(publication_seen_by(reader), 1U);
    replace(kControlName, bytes);
    reader.check_soon();
    const std::uint64_t seen = publication_seen_by(reader);
    EXPECT_TRUE(seen == 1 || !reader.reason().empty());
    EXPECT_TRUE(may_contain(reader, "old1"));
    SetReader newcomer = this->reader();
    if (!newcomer.follow()) {
      ++refused;
      EXPECT_NE(newcomer.reason(), "");
    } else {
      EXPECT_FALSE(must_refuse);
    }
    replace(kControlName, good);
  };
  const std::uint64_t tried = for_each_damage<ControlPage>(good, good.size(), meet);
  soak_report("control pages, a byte changed or cut short: " + std::to_string(tried) + ", " +
              std::to_string(refused) + " refused; readers keep what they have or answer maybe");
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
  std::uint64_t refused = 0;
  const auto meet = [&](const std::string& bytes, bool must_refuse) {
    make_current_by_hand(1);
    SetReader reader = this->reader();
    ASSERT_EQ(publication_seen_by(reader), 1U);
    replace(live, bytes);
    make_current_by_hand(2);
    const std::uint64_t seen = publication_seen_by(reader);
    EXPECT_EQ(seen, must_refuse ? 0U : 2U) << reader.reason();
    EXPECT_TRUE(may_contain(reader, "base1"));
    EXPECT_EQ(may_contain(reader, "absent"), must_refuse);
    if (seen == 0) {
      EXPECT_NE(reader.reason(), "");
      ++refused;
    }
  };
  const std::uint64_t tried = for_each_damage<LivePage>(good, sizeof(LivePage), meet);
  soak_report("live pages, a byte changed or cut short: " + std::to_string(tried) + ", " +
              std::to_string(refused) + " refused by readers, which answer maybe");
}

// Texts from a store or an operator (chunks, pointer records, configurations) with a byte changed or cut
// short. They are refused with a reason or mean the same; the reason never shows a password.

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
  record.chunks_removed_to = {1};
  record.bypass_until = 1'700'000'000;
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
