// A push to a set whose record has the first format.
#include <nlohmann/json.hpp>

#include "tests/tools/transfer/transfer_fixture.hpp"

namespace keysieve::test {
namespace {

using FirstFormat = TransferTest;

TEST_F(FirstFormat, IsUpgradedByAPush) {
  const auto old_snapshot = build_snapshot();
  SnapshotRecord old_record = describe(view_of(old_snapshot));
  old_record.generation = 5;
  nlohmann::json document = nlohmann::json::parse(encode(PointerRecord{.current = old_record}));
  document["format"] = 1;
  for (const char* later : {"pending", "garbage", "adds_trimmed_to", "record_checksum"})
    document.erase(later);
  for (const char* later : {"push_id", "adds_from", "restores"}) document["current"].erase(later);
  replace(kPointerKey, document.dump());
  replace(chunk_key("keysieve", "tags", old_record.build_id, 0),
          encode_chunk(0, chunk_payload(Bytes(old_snapshot.get()), 0)));
  expect_current(old_snapshot);
  EXPECT_EQ(push(build_snapshot()).record.generation, 6U);
  EXPECT_TRUE(has_chunks_of(old_snapshot));
  for (int i = 0; i < 2; ++i) push(build_snapshot());
  EXPECT_FALSE(has_chunks_of(old_snapshot));
}

}  // namespace
}  // namespace keysieve::test
