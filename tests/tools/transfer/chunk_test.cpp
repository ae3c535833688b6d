#include "tools/transfer/chunk.hpp"
#include "tests/support/matchers.hpp"

namespace keysieve::test {
namespace {

TEST(Chunk, HasTheDocumentedBytes) {
  const std::string value = encode_chunk(0x01020304, as_bytes("payload"));
  EXPECT_EQ(value.substr(0, 8), std::string("KSC1\x04\x03\x02\x01"));
  EXPECT_EQ(value.substr(16), "payload");
}

TEST(Chunk, CountCoversTheLastStartedChunk) {
  EXPECT_EQ(chunk_count_of(1), 1U);
  EXPECT_EQ(chunk_count_of(kChunkPayloadBytes), 1U);
  EXPECT_EQ(chunk_count_of(kChunkPayloadBytes + 1), 2U);
  EXPECT_EQ(chunk_count_of(UINT64_MAX), UINT64_MAX / kChunkPayloadBytes + 1);
}

TEST(Chunk, KeyNamesPrefixSetBuildAndNumber) {
  BuildId id{};
  id[0] = 0xab;
  EXPECT_EQ(chunk_key("keysieve", "tags", id, 12), "keysieve:tags:ab000000000000000000000000000000:12");
}

// tests/faults/damaged_texts_test.cpp changes each of its bytes and cuts it short everywhere.
TEST(Chunk, IsRefusedWhenItIsLonger) {
  const std::string value = encode_chunk(0, as_bytes("payload"));
  EXPECT_EQ(failure_of([&] { decode_chunk(value + "x", 0, 7, "source"); }), ErrorKind::Data);
}

}  // namespace
}  // namespace keysieve::test
