#include "core/worker/snapshot/layout.hpp"

#include <gtest/gtest.h>

namespace keysieve {
namespace {

TEST(SnapshotLayout, PutsTablesAfterTheHeaderAndShardsOnAPage) {
  const SnapshotLayout layout = snapshot_layout(3, {1024});
  EXPECT_EQ(layout.shard_table.offset, 4096U);
  EXPECT_EQ(layout.shard_table.bytes, 24U);
  EXPECT_EQ(layout.checksum_table.offset, 4120U);
  EXPECT_EQ(layout.checksum_table.bytes, 8U);
  EXPECT_EQ(layout.shards.offset, 8192U);
  EXPECT_EQ(layout.shards.bytes, 3072U);
  EXPECT_EQ(layout.file_bytes, 11264U);
}

TEST(SnapshotLayout, HasAChecksumPerStarted64KiB) {
  EXPECT_EQ(snapshot_layout(64, {1024}).checksum_table.bytes, 8U);
  EXPECT_EQ(snapshot_layout(65, {1024}).checksum_table.bytes, 16U);
  EXPECT_EQ(snapshot_layout(16, {8192}).checksum_table.bytes, 16U);
}

TEST(SnapshotLayout, PutsSeedsOfSecondLevelsBehindTheShardTable) {
  const SnapshotLayout layout = snapshot_layout(3, {.shard_bytes = 1024, .retrieval_bytes = 96});
  EXPECT_EQ(layout.retrieval_seeds.offset, 4120U);
  EXPECT_EQ(layout.retrieval_seeds.bytes, 8U);
  EXPECT_EQ(layout.checksum_table.offset, 4128U);
  EXPECT_EQ(layout.shards.bytes, 3U * 1120);
}

TEST(SnapshotLayout, AChecksumCoversWholeShards) {
  const FilterParams params{.shard_bytes = 1024, .retrieval_bytes = 96};  // 58.5 of them are 64 KiB
  EXPECT_EQ(snapshot_layout(58, params).checksum_table.bytes, 8U);
  EXPECT_EQ(snapshot_layout(59, params).checksum_table.bytes, 16U);
  EXPECT_EQ(snapshot_layout(59, params).stretch_bytes, 58U * 1120);
}

TEST(SnapshotLayout, PutsDigestsOfASignedSnapshotBehindTheChecksums) {
  const SnapshotLayout layout = snapshot_layout(1'024, {4096}, /*has_digests=*/true);
  EXPECT_EQ(layout.stretch_count(), 64U);
  EXPECT_EQ(layout.stretch_digests.offset, layout.checksum_table.offset + layout.checksum_table.bytes);
  EXPECT_EQ(layout.stretch_digests.bytes, 64U * 32);
  EXPECT_EQ(layout.shards.offset, 16'384U);
  EXPECT_EQ(snapshot_layout(1'024, {4096}).stretch_digests.bytes, 0U);
  EXPECT_EQ(snapshot_layout(1'024, {4096}).stretch_digests.offset, 0U);
}

TEST(SnapshotLayout, CountsIn64Bits) {
  const SnapshotLayout layout = snapshot_layout(UINT32_MAX, {8192});
  EXPECT_EQ(layout.shard_table.bytes, std::uint64_t{UINT32_MAX} * 8);
  EXPECT_EQ(layout.shards.bytes, std::uint64_t{UINT32_MAX} * 8192);
  EXPECT_EQ(layout.file_bytes, layout.shards.offset + layout.shards.bytes);
}

TEST(BuildId, IsShownAsHexadecimalDigits) {
  EXPECT_EQ(to_hex({0x00, 0x01, 0x0a, 0xf0, 0xff}), "00010af0ff0000000000000000000000");
}

}  // namespace
}  // namespace keysieve
