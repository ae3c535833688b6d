// The bytes of a signed snapshot, as core/worker/snapshot/golden_test.cpp pins those of others.
// KEYSIEVE_WRITE_GOLDEN=1 writes the file.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "core/builder/base/file_io.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/mapped_region.hpp"
#include "tests/core/sample_snapshot.hpp"
#include "tests/support/signing_keys.hpp"
#include "tools/signatures/public_keys.hpp"

namespace keysieve {
namespace {

const std::string kPath = KEYSIEVE_GOLDEN_DIRECTORY "/signed.ks";

SnapshotBytes signed_snapshot() {
  const SigningKey key = test::signing_key('7');
  return test::build_snapshot({.set_name = "golden-set",
                               .target_fpr = 0.01,
                               .shard_bytes = 1024,
                               .seed = {0x0123456789abcdef, 0xfedcba9876543210},
                               .as_of = 1'400'000'000,
                               .built_at = 1'400'000'060,
                               .build_id = {0xa0, 0xa1, 0xa2, 0xa3},
                               .signer = &key},
                              test::numbered_keys("key", 60'000));
}

TEST(SignedGoldenSnapshot, IsBuiltByteByByte) {
  const SnapshotBytes built = signed_snapshot();
  if (std::getenv("KEYSIEVE_WRITE_GOLDEN") != nullptr)
    std::ofstream(kPath, std::ios::binary) << as_text(built.get());
  const MappedRegion golden = map_file(kPath);
  EXPECT_TRUE(as_text(built.get()) == as_text(bytes_of(golden)));
}

TEST(SignedGoldenSnapshot, IsSignedByItsKey) {
  const MappedRegion golden = map_file(kPath);
  const SnapshotView view = SnapshotView::decode(bytes_of(golden), kPath, Check::Everything);
  EXPECT_EQ(to_hex(view.header().public_key),
            "c853ad0f0cd2b619aea92ceec4fd56a24d6499d584ce79257e45cfd8139b60a7");
  EXPECT_GT(snapshot_layout(view.header()).stretch_count(), 1U);
  EXPECT_NO_THROW(check_signature(view, {view.header().public_key}, kPath));
}

}  // namespace
}  // namespace keysieve
