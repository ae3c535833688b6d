// Decodes bytes that are not a good snapshot: all damage is refused, with a message that names the source,
// and nothing is read beyond the bytes (AddressSanitizer watches).
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <optional>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/error.hpp"
#include "tests/core/sample_snapshot.hpp"

namespace keysieve {
namespace {

using test::build_snapshot;
using test::copy_of;
using test::numbered_keys;
using ::testing::Each;
using ::testing::HasSubstr;

SnapshotBytes small_snapshot() {
  return build_snapshot({.set_name = "tags", .shard_bytes = 1024, .built_at = 1, .build_id = {1}},
                        numbered_keys("key", 50));
}

SnapshotHeader& writable_header(SnapshotBytes& snapshot) {
  return *reinterpret_cast<SnapshotHeader*>(snapshot.get().data());
}

void sign_header(SnapshotBytes& snapshot) {
  writable_header(snapshot).header_checksum = header_checksum(writable_header(snapshot));
}

// For one shard of 1 KiB.
void sign_tables(SnapshotBytes& snapshot) {
  writable_header(snapshot).tables_checksum = checksum(tables_of(snapshot.get(), snapshot_layout(1, {1024})));
  sign_header(snapshot);
}

struct Refusal {
  ErrorKind kind;
  std::string message;
};

// Nothing if it was accepted.
std::optional<Refusal> refusal_of(const SnapshotBytes& snapshot, Check check = Check::Everything) {
  try {
    SnapshotView::decode(snapshot.get(), "the-source", check);
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the-source: "));
    return Refusal{error.kind(), error.what()};
  }
  return std::nullopt;
}

// So that a later version of the same format may use them.
TEST(SnapshotDecode, IgnoresReservedBytesWhichAreBuiltAsZeros) {
  SnapshotBytes snapshot = small_snapshot();
  SnapshotHeader& header = writable_header(snapshot);
  EXPECT_THAT(header.reserved_params, Each(0));
  EXPECT_THAT(header.reserved, Each(0));
  header.reserved_params.fill(1);
  header.reserved.fill(1);
  sign_header(snapshot);
  EXPECT_FALSE(refusal_of(snapshot));
}

TEST(SnapshotDecode, SaysWhereATruncatedSnapshotEnds) {
  const SnapshotBytes whole = small_snapshot();
  const auto refusal = refusal_of(copy_of(whole.get().first(100)));
  EXPECT_EQ(refusal->kind, ErrorKind::Data);
  EXPECT_THAT(refusal->message, HasSubstr("100 bytes"));
  EXPECT_THAT(refusal_of(copy_of(whole.get().first(9000)))->message,
              HasSubstr("cut short: 9000 bytes instead of 9216"));
}

TEST(SnapshotDecode, RefusesBytesAfterTheEnd) {
  const SnapshotBytes whole = small_snapshot();
  SnapshotBytes longer(whole.get().size() + 1);
  std::copy(whole.get().begin(), whole.get().end(), longer.get().begin());
  EXPECT_THAT(refusal_of(longer)->message, HasSubstr("too long"));
}

TEST(SnapshotDecode, FindsDamageInEveryShard) {
  SnapshotBytes snapshot = build_snapshot({.set_name = "tags"}, numbered_keys("key", 150'000));
  const std::uint64_t first = writable_header(snapshot).shards.offset;
  for (std::uint64_t at = first; at < snapshot.get().size(); at += 4096) {
    snapshot.get()[at] ^= std::byte{1};
    EXPECT_THAT(refusal_of(snapshot)->message, HasSubstr("offset " + std::to_string(at) + ")"));
    snapshot.get()[at] ^= std::byte{1};
  }
  snapshot.get().back() ^= std::byte{1};
  EXPECT_TRUE(refusal_of(snapshot));
}

TEST(SnapshotDecode, ReadsNoShardWhenItChecksOnlyTheTables) {
  SnapshotBytes snapshot = small_snapshot();
  snapshot.get().back() ^= std::byte{1};
  EXPECT_FALSE(refusal_of(snapshot, Check::Tables));
  snapshot.get()[kPageBytes] ^= std::byte{1};
  EXPECT_TRUE(refusal_of(snapshot, Check::Tables));
}

TEST(SnapshotDecode, RefusesOtherFiles) {
  SnapshotBytes zeros(8192);
  EXPECT_THAT(refusal_of(zeros)->message, HasSubstr("is not a keysieve snapshot"));
}

void set_text(std::array<char, kMaxSetNameBytes>& field, std::string_view text) {
  field.fill('\0');
  std::copy(text.begin(), text.end(), field.begin());
}

// Makes a header whose tables agree with a geometry that the file does not have.
void claim_geometry(SnapshotHeader& header, std::uint32_t shard_count, std::uint32_t shard_bytes) {
  const SnapshotLayout layout = snapshot_layout(shard_count, {shard_bytes});
  header.shard_count = shard_count;
  header.shard_bytes = shard_bytes;
  header.shard_table = layout.shard_table;
  header.checksum_table = layout.checksum_table;
  header.shards = layout.shards;
  header.file_bytes = layout.file_bytes;
}

// One lie in an otherwise good header, whose checksum is right.
struct HostileHeader {
  std::string name;
  void (*change)(SnapshotHeader& header);
  ErrorKind kind;
  std::string reason;
};

class SnapshotDecodeHostile : public ::testing::TestWithParam<HostileHeader> {};

TEST_P(SnapshotDecodeHostile, IsRefusedWithoutTrustingIt) {
  SnapshotBytes snapshot = small_snapshot();
  GetParam().change(writable_header(snapshot));
  sign_header(snapshot);
  const SnapshotBytes bytes = copy_of(snapshot.get());
  for (const Check check : {Check::Tables, Check::Everything}) {
    const auto refusal = refusal_of(bytes, check);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->kind, GetParam().kind);
    EXPECT_THAT(refusal->message, HasSubstr(GetParam().reason));
  }
}

using H = SnapshotHeader;
constexpr ErrorKind kData = ErrorKind::Data;
constexpr ErrorKind kIncompatible = ErrorKind::Incompatible;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min();

const std::vector<HostileHeader> kHostileHeaders{
    {"FormatZero", [](H& h) { h.format = 0; }, kIncompatible, "format 0"},
    {"NewerFormat", [](H& h) { h.format = 2; }, kIncompatible,
     "format 2, this version reads 1: damaged, or written by a newer version"},
    {"UnknownHash", [](H& h) { h.hash_id = 2; }, kIncompatible, "hash 2"},
    {"SeedZero", [](H& h) { h.seed = {}; }, kData, "seed is zero"},
    {"UnknownKind", [](H& h) { h.kind = 0; }, kIncompatible, "filter kind 0"},
    {"LaterKind", [](H& h) { h.kind = 255; }, kIncompatible, "filter kind 255"},
    {"HeaderBytesZero", [](H& h) { h.header_bytes = 0; }, kData, "header size"},
    {"ShardBytesZero", [](H& h) { h.shard_bytes = 0; }, kData, "shard size of 0"},
    {"ShardBytesOdd", [](H& h) { claim_geometry(h, 1, 3000); }, kData, "shard size of 3000"},
    {"ShardBytesTooSmall", [](H& h) { claim_geometry(h, 1, 512); }, kData, "shard size of 512"},
    {"ShardBytesTooLarge", [](H& h) { claim_geometry(h, 1, 16384); }, kData, "shard size of 16384"},
    {"ShardBytesUnlikeTables", [](H& h) { h.shard_bytes = 2048; }, kData, "tables are not where"},
    {"ShardBytesBeyondFile", [](H& h) { claim_geometry(h, 1, 2048); }, kData, "cut short"},
    {"ShardCountZero", [](H& h) { h.shard_count = 0; }, kData, "no shards"},
    {"ShardCountZeroThroughout", [](H& h) { claim_geometry(h, 0, 1024); }, kData, "no shards"},
    {"ShardCountUnlikeTables", [](H& h) { h.shard_count = kMaxShards; }, kData, "tables are not where"},
    {"ShardCountMost", [](H& h) { claim_geometry(h, kMaxShards, 1024); }, kData, "cut short"},
    {"ShardCountAboveMost", [](H& h) { claim_geometry(h, kMaxShards + 1, 1024); }, kData,
     "1048576 are the most"},
    {"ShardCountHighest", [](H& h) { claim_geometry(h, UINT32_MAX, 8192); }, kData, "1048576 are the most"},
    {"ShardCountOneMore", [](H& h) { claim_geometry(h, h.shard_count + 1, 1024); }, kData, "cut short"},
    {"RetrievalBytesOdd", [](H& h) { h.retrieval_bytes = 1; }, kData, "second levels of 1 bytes"},
    {"RetrievalBytesTooMany", [](H& h) { h.retrieval_bytes = 8192; }, kData, "second levels of 8192 bytes"},
    {"RetrievalBytesWrapAround", [](H& h) { h.retrieval_bytes = UINT32_MAX - 1023; }, kData, "out of range"},
    {"RetrievalBytesMost", [](H& h) { h.retrieval_bytes = kMaxShardBytes - 1024; }, kData,
     "tables are not where"},
    {"RetrievalBytesUnlikeTables", [](H& h) { h.retrieval_bytes = 32; }, kData, "tables are not where"},
    {"KnownAbsentWithoutSecondLevels", [](H& h) { h.known_absent = 1; }, kData, "no second levels"},
    {"SampleOfNothing", [](H& h) { h.sample_count = 1; }, kData, "more known-absent keys in its sample"},
    {"ValuesOfAKindWithout", [](H& h) { h.value_bits = 16; }, kData, "split_block_bloom cannot have values"},
    {"ValueBitsTooMany", [](H& h) { h.value_bits = 33; }, kData, "values of 33 bits"},
    {"SampleOfValuesInASet", [](H& h) { h.sampled_count = 1; }, kData, "sample of more values"},
    {"HashCountOneLess", [](H& h) { h.hash_count = 7; }, kData, "k = 7 is out of range"},
    {"SignatureWithoutPublicKey", [](H& h) { h.signature[63] = 1; }, kData, "parts of a signature"},
    {"DigestWithoutPublicKey", [](H& h) { h.contents_digest[31] = 1; }, kData, "parts of a signature"},
    {"FileBytesOneMore", [](H& h) { ++h.file_bytes; }, kData, "tables are not where"},
    {"RetrievalSeedsWithoutBytes", [](H& h) { h.retrieval_seeds = h.shard_table; }, kData,
     "tables are not where"},
    {"KeyCountOneMore", [](H& h) { ++h.key_count; }, kData, "counts 50 keys, the header 51"},
    {"KeyCountHighest", [](H& h) { h.key_count = UINT64_MAX; }, kData, "the header 18446744073709551615"},
    {"TablesChecksum", [](H& h) { ++h.tables_checksum; }, kData, "tables are damaged"},
    {"SetNameEmpty", [](H& h) { set_text(h.set_name, ""); }, kData, "set name"},
    {"SetNameWithSlash", [](H& h) { set_text(h.set_name, "a/../../etc"); }, kData, "set name"},
    {"TargetFprNan", [](H& h) { h.target_fpr = kNan; }, kData, "target FPR"},
    {"TargetFprZero", [](H& h) { h.target_fpr = 0.0; }, kData, "target FPR"},
    {"TargetFprBelowRange", [](H& h) { h.target_fpr = 9.9e-10; }, kData, "target FPR"},
    {"TargetFprAboveRange", [](H& h) { h.target_fpr = 0.6; }, kData, "target FPR"},
    {"EstimatedFprNan", [](H& h) { h.estimated_fpr = kNan; }, kData, "estimated FPR"},
    {"EstimatedFprNegative", [](H& h) { h.estimated_fpr = -0.1; }, kData, "estimated FPR"},
    {"EstimatedFprInfinite", [](H& h) { h.estimated_fpr = kInfinity; }, kData, "estimated FPR"},
    {"EstimatedFprAboveOne", [](H& h) { h.estimated_fpr = std::nextafter(1.0, 2.0); }, kData,
     "estimated FPR"},
    {"AsOfEarliest", [](H& h) { h.as_of = kEarliest; }, kData, "as_of"},
    {"AsOfTooLate", [](H& h) { h.as_of = kFarthestMoment + 1; }, kData, "as_of"},
    {"BuiltAtEarliest", [](H& h) { h.built_at = kEarliest; }, kData, "built_at"},
    {"BuiltAtTooLate", [](H& h) { h.built_at = kFarthestMoment + 1; }, kData, "built_at"},
    {"ValidForNegative", [](H& h) { h.valid_for = -1; }, kData, "valid_for"},
    {"ValidForEarliest", [](H& h) { h.valid_for = kEarliest; }, kData, "valid_for"},
    {"ValidForTooLong", [](H& h) { h.valid_for = kFarthestMoment + 1; }, kData, "valid_for"},
};

INSTANTIATE_TEST_SUITE_P(Header, SnapshotDecodeHostile, ::testing::ValuesIn(kHostileHeaders),
                         [](const auto& instance) { return instance.param.name; });

TEST(SnapshotDecode, RefusesAPartThatIsElsewhereOrOfAnotherSize) {
  for (TableSpan H::*const part : {&H::shard_table, &H::checksum_table, &H::shards, &H::retrieval_seeds}) {
    for (std::uint64_t TableSpan::*const field : {&TableSpan::offset, &TableSpan::bytes}) {
      SnapshotBytes snapshot = small_snapshot();
      std::uint64_t& value = (writable_header(snapshot).*part).*field;
      const std::uint64_t right = value;
      for (const std::uint64_t other : {right + 1, right + (1 << 20), std::uint64_t{0}, UINT64_MAX}) {
        if (other == right) continue;
        value = other;
        sign_header(snapshot);
        EXPECT_THAT(refusal_of(snapshot)->message, HasSubstr("tables are not where")) << other;
      }
    }
  }
}

TEST(SnapshotDecode, AcceptsTheEndsOfEachRange) {
  void (*const changes[])(H&) = {
      [](H& h) { h.target_fpr = kMinFpr; },
      [](H& h) { h.target_fpr = kMaxFpr; },
      [](H& h) { h.estimated_fpr = 0.0; },
      [](H& h) { h.estimated_fpr = 1.0; },
      [](H& h) { h.as_of = 0; },
      [](H& h) { h.as_of = kFarthestMoment; },
      [](H& h) { h.built_at = 0; },
      [](H& h) { h.built_at = kFarthestMoment; },
      [](H& h) { h.valid_for = 0; },
      [](H& h) { h.valid_for = kFarthestMoment; },
  };
  for (const auto change : changes) {
    SnapshotBytes snapshot = small_snapshot();
    change(writable_header(snapshot));
    sign_header(snapshot);
    EXPECT_FALSE(refusal_of(snapshot)) << "number " << (&change - changes);
  }
}

TEST(SnapshotDecode, AcceptsSamplesUpToTheEndOfTheirTables) {
  SnapshotBuilder of_set({.set_name = "tags", .has_known_absent = true});
  of_set.add("key");
  const auto absent = numbered_keys("absent", 1'000);
  of_set.add_known_absent(0, std::vector<std::string_view>(absent.begin(), absent.end()));
  SnapshotBytes set = of_set.finish();
  writable_header(set).sample_count = kKnownAbsentSample;
  sign_header(set);
  EXPECT_EQ(test::decode(set).known_absent_sample().size(), kKnownAbsentSample);
  writable_header(set).sample_count = kKnownAbsentSample + 1;
  sign_header(set);
  EXPECT_THAT(refusal_of(set)->message, HasSubstr("in its sample"));

  MapValues values(1);
  SnapshotBuilder of_map(
      {.set_name = "tiers", .kind = find_filter_kind("ribbon"), .seed = test::kSeed, .values = &values});
  of_map.add("key");
  values.add(0, test::hash_of("key"), 1);
  EXPECT_FALSE(values.finish());
  SnapshotBytes map = of_map.finish();
  writable_header(map).sampled_count = kValueSample;
  sign_header(map);
  EXPECT_EQ(value_sample_of(test::decode(map).header()).size(), kValueSample);
  writable_header(map).sampled_count = kValueSample + 1;
  sign_header(map);
  EXPECT_THAT(refusal_of(map)->message, HasSubstr("sample of more values"));
}

TEST(SnapshotDecode, RefusesAShardTableThatCountsOtherKeys) {
  SnapshotBytes snapshot = small_snapshot();
  reinterpret_cast<ShardEntry*>(snapshot.get().data() + kPageBytes)->key_count = 65535;
  sign_tables(snapshot);
  EXPECT_THAT(refusal_of(snapshot)->message, HasSubstr("counts 65535 keys, the header 50"));
}

struct HostileEntry {
  std::string kind;
  ShardEntry entry;  // except for the key count
  std::string reason;
};

class SnapshotDecodeHostileEntry : public ::testing::TestWithParam<HostileEntry> {};

// Its parameters decide addresses: they are refused before any lookup, although all checksums are right.
TEST_P(SnapshotDecodeHostileEntry, IsRefusedBeforeAnyLookup) {
  SnapshotBytes snapshot =
      build_snapshot({.set_name = "tags", .kind = find_filter_kind(GetParam().kind), .shard_bytes = 1024},
                     numbered_keys("key", 50));
  auto& entry = *reinterpret_cast<ShardEntry*>(snapshot.get().data() + kPageBytes);
  const std::uint16_t key_count = entry.key_count;
  entry = GetParam().entry;
  entry.key_count = key_count;
  sign_tables(snapshot);
  for (const Check check : {Check::Tables, Check::Everything}) {
    const auto refusal = refusal_of(snapshot, check);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->kind, ErrorKind::Data);
    EXPECT_THAT(refusal->message,
                AllOf(HasSubstr("entry of shard 0 cannot be"), HasSubstr(GetParam().reason)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    OfEveryKind, SnapshotDecodeHostileEntry,
    ::testing::Values(HostileEntry{"bloom", {.width = 255}, "has no seed, width"},
                      HostileEntry{"partitioned_bloom", {.seed = 1}, "has no seed, width"},
                      HostileEntry{"blocked_bloom", {.block_count = 1}, "has no seed, width"},
                      HostileEntry{"split_block_bloom", {.shape = 1}, "has no seed, width"},
                      HostileEntry{"cuckoo", {.width = 255}, "wider than the set's"},
                      HostileEntry{"xor", {.width = 255, .block_count = 1}, "wider than they can be"},
                      HostileEntry{"xor", {.width = 33, .block_count = 1}, "wider than they can be"},
                      HostileEntry{"xor", {.width = 24, .block_count = 2000}, "beyond the shard"},
                      HostileEntry{"xor", {.width = 0, .block_count = 1}, "fields without bits"},
                      HostileEntry{"binary_fuse", {.width = 255, .block_count = 1}, "wider than they can be"},
                      HostileEntry{"binary_fuse", {.width = 8, .block_count = 60'000}, "beyond the shard"},
                      HostileEntry{"binary_fuse", {.width = 8, .block_count = 1, .shape = 31}, "longer than"},
                      HostileEntry{"binary_fuse", {.width = 0, .shape = 1}, "fields without bits"},
                      HostileEntry{"ribbon", {.width = 255, .block_count = 8}, "more columns than"},
                      HostileEntry{"ribbon", {.width = 31, .block_count = 8}, "more columns than"},
                      HostileEntry{"ribbon", {.width = 23, .block_count = 16'000}, "beyond the shard"},
                      HostileEntry{"ribbon", {.width = 0, .block_count = 60'000}, "more blocks than"},
                      HostileEntry{"ribbon", {.width = 23, .block_count = 0}, "longer than its slots"},
                      HostileEntry{"ribbon", {.width = 6, .block_count = 8, .shape = 0x8000}, "levels"}),
    [](const auto& instance) { return instance.param.kind + "_" + std::to_string(instance.index); });

// The reader in PHP has the same limits: tests/differential asks both.
TEST(SnapshotDecode, RefusesNoneAndOneMoreThanTheHighestHashCountOfAKind) {
  for (const FilterKind& kind : filter_kinds()) {
    SnapshotBytes snapshot = build_snapshot({.set_name = "tags", .kind = &kind}, numbered_keys("key", 50));
    for (const int wrong : {0, kind.hash_counts.back() + 1}) {
      writable_header(snapshot).hash_count = static_cast<std::uint8_t>(wrong);
      sign_header(snapshot);
      EXPECT_THAT(refusal_of(snapshot)->message, HasSubstr("is out of range for " + std::string(kind.name)))
          << wrong;
    }
  }
}

TEST(SnapshotDecode, RefusesAChecksumTableThatDoesNotFitTheShards) {
  SnapshotBytes snapshot = small_snapshot();
  snapshot.get()[writable_header(snapshot).checksum_table.offset] ^= std::byte{1};
  sign_tables(snapshot);
  EXPECT_THAT(refusal_of(snapshot)->message, HasSubstr("shards are damaged"));
}

TEST(SnapshotView, IsNeverExpiredWithoutValidFor) {
  const SnapshotBytes bytes = build_snapshot({.set_name = "tags", .as_of = test::kAsOf}, {});
  EXPECT_EQ(test::decode(bytes).valid_until(), 0);
}

}  // namespace
}  // namespace keysieve
