// Snapshots with a changed byte, cut short, or damaged at random are refused with a reason. Nothing reads
// beyond the bytes (AddressSanitizer watches), and readers keep the publication before.
#include <random>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/core/shm/shared_memory.hpp"
#include "tests/support/hash_key.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/soak.hpp"

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
TEST_F(DamagedSnapshots, LeaveReadersWithThePublicationBefore) {
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
      ASSERT_EQ(publication_seen_by(reader), before) << kind.name << " offset " << at;
      ASSERT_THAT(reader.reason(), HasSubstr(file(snapshot_file_name(publication))));
      make_current_by_hand(before);
      std::filesystem::remove(file(snapshot_file_name(publication)));
      std::filesystem::remove(file(live_file_name(publication)));
    }
  }
  EXPECT_TRUE(may_contain(reader, "old1"));
  EXPECT_FALSE(may_contain(reader, "key1"));
  soak_report("damaged headers and tables put in the place of a publication: " +
              std::to_string(publication - before) + ", all refused by readers, which keep the one before");
}

}  // namespace
}  // namespace keysieve::test
