// Whatever the bytes of a snapshot are, they are refused with an Error, or every lookup stays inside them.
// They are decoded as they are, again with corrected checksums, and once more with a new signature, to reach
// the checks behind the checksums and the signature. Input: the snapshot.
#include <algorithm>
#include <array>
#include <vector>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/snapshot/layout.hpp"
#include "core/worker/snapshot/snapshot.hpp"
#include "tests/support/hash_key.hpp"
#include "tests/support/signing_keys.hpp"
#include "tools/signatures/public_keys.hpp"
#include "tools/signatures/signing_key.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kHashes = 64;

// A deterministic spread of hashes over shards and blocks.
std::array<KeyHash, kHashes> some_hashes() {
  std::array<KeyHash, kHashes> hashes;
  for (std::size_t i = 0; i < kHashes; ++i) hashes[i] = hash_key({"key", i % 4}, {i});
  hashes.front() = {0};
  hashes.back() = {~std::uint64_t{0}};
  return hashes;
}

void look_up_in(const SnapshotView& view) {
  static const std::array<KeyHash, kHashes> hashes = some_hashes();
  std::array<bool, kHashes> batch{};
  for (const InstructionSet instructions : instruction_sets()) {
    const Lookup lookup = view.kind().lookup(view.shards().params, instructions);
    lookup.may_contain_many(view.shards(), hashes, batch.data());
    for (std::size_t i = 0; i < kHashes; ++i) {
      if (lookup.may_contain(view.shards(), hashes[i]) != batch[i]) __builtin_trap();
    }
    if (!view.is_map()) continue;
    std::array<MapAnswer, kHashes> answers{};
    lookup.find_many(view.shards(), hashes, answers.data());
    for (std::size_t i = 0; i < kHashes; ++i) {
      if (lookup.find(view.shards(), hashes[i]) != answers[i]) __builtin_trap();
      if ((answers[i] != kAbsent) != batch[i]) __builtin_trap();
    }
  }
  static_cast<void>(view.fill_ratio());
  static_cast<void>(view.set_name());
  static_cast<void>(view.key_profile());
  static_cast<void>(view.valid_until());
}

void decode(Bytes bytes) {
  for (const Check check : {Check::Tables, Check::Everything}) {
    try {
      const SnapshotView view = SnapshotView::decode(bytes, "fuzz", check);
      look_up_in(view);
      check_signature(view, {view.header().public_key}, "fuzz");
    } catch (const Error&) {
      // Refused with a reason.
    }
  }
}

// Corrects the checksums, and the digest of a signed snapshot, if the layout in the header fits the bytes.
// With a key, signs it again, so that the checks behind the signature are reached.
void correct_checksums(MutableBytes bytes, const SigningKey* key = nullptr) {
  if (bytes.size() < sizeof(SnapshotHeader)) return;
  auto header = load<SnapshotHeader>(bytes.data());
  const FilterParams params = params_of(header);
  if (!is_shard_bytes(params.shard_bytes) || params.retrieval_bytes > kMaxShardBytes - params.shard_bytes)
    return;
  const SnapshotLayout layout = snapshot_layout(header);
  if (layout.file_bytes == bytes.size()) {
    std::vector<Digest> digests(1 + header.shard_count);
    for (std::uint64_t i = 0; i < header.shard_count; ++i) {
      const Bytes shard = Bytes(bytes).subspan(layout.shards.offset + i * params.stride(), params.stride());
      store(bytes.data() + layout.checksum_table.offset + i * sizeof(std::uint64_t), checksum(shard));
      digests[1 + i] = digest_of(shard);
    }
    digests.front() = digest_of(tables_of(bytes, layout));
    if (header.is_signed()) header.contents_digest = digest_of(std::as_bytes(std::span(digests)));
    header.tables_checksum = checksum(tables_of(bytes, layout));
  }
  if (key != nullptr && header.is_signed()) {
    header.public_key = key->public_key();
    header.signature = key->sign(signed_bytes(header));
  }
  header.header_checksum = header_checksum(header);
  store(bytes.data(), header);
}

}  // namespace
}  // namespace keysieve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // Aligned like a mapping, and ending where the input ends, so that AddressSanitizer sees any access beyond
  // it.
  keysieve::SnapshotBytes snapshot(size);
  std::copy_n(reinterpret_cast<const std::byte*>(data), size, snapshot.get().begin());
  keysieve::decode(snapshot.get());
  keysieve::correct_checksums(snapshot.get());
  keysieve::decode(snapshot.get());
  static const keysieve::SigningKey key = keysieve::test::signing_key('1');
  keysieve::correct_checksums(snapshot.get(), &key);
  keysieve::decode(snapshot.get());
  return 0;
}
