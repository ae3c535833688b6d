#include "tools/signatures/public_keys.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include "core/worker/base/error.hpp"
#include "tools/signatures/signing_key.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kShownDigits = 16;

std::string shown(const PublicKey& key) {
  return to_hex(key).substr(0, kShownDigits) + "...";
}

std::string shown(const PublicKeys& keys) {
  std::string text;
  for (const PublicKey& key : keys) text += (text.empty() ? "" : " or ") + shown(key);
  return text;
}

bool is_signed_by_its_key(const SnapshotHeader& header) {
  const Bytes bytes = signed_bytes(header);
  return ::crypto_sign_verify_detached(header.signature.data(),
                                       reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                                       header.public_key.data()) == 0;
}

Digest contents_digest_of(const SnapshotView& snapshot) {
  const ShardArray& shards = snapshot.shards();
  std::vector<Digest> digests{digest_of(tables_of(snapshot.bytes(), snapshot_layout(snapshot.header())))};
  for (std::uint64_t i = 0; i < shards.shard_count; ++i) {
    digests.push_back(digest_of({shards.shard(i), shards.stride}));
  }
  return digest_of(std::as_bytes(std::span(digests)));
}

}  // namespace

std::string to_hex(const PublicKey& key) {
  return fmt::format("{:02x}", fmt::join(key, ""));
}

PublicKey parse_public_key(std::string_view text) {
  if (text.starts_with(kSecretKeyPrefix)) {
    throw Error(
        ErrorKind::Usage,
        "is a secret key, which only builders may have; keysieve keygen --show prints the public key");
  }
  PublicKey key;
  std::size_t size = 0;
  const int failed =
      ::sodium_hex2bin(key.data(), key.size(), text.data(), text.size(), nullptr, &size, nullptr);
  if (failed != 0 || size != key.size() || text.size() != 2 * key.size()) {
    throw Error(ErrorKind::Usage,
                "is not a public key: 64 hexadecimal digits, as keysieve keygen --show prints them");
  }
  return key;
}

void check_signature(const SnapshotView& snapshot, const PublicKeys& keys, const std::string& source) {
  if (keys.empty()) return;
  start_sodium();
  const auto refuse = [&source](const std::string& reason) {
    throw Error(ErrorKind::NotSigned, source + ": " + reason);
  };
  const SnapshotHeader& header = snapshot.header();
  if (!header.is_signed()) refuse("is not signed, but must be by " + shown(keys));
  if (!contains(keys, header.public_key))
    refuse("is signed by " + shown(header.public_key) + ", but must be by " + shown(keys));
  if (!is_signed_by_its_key(header))
    refuse("the signature does not match its header: it is forged, or was changed");
  if (contents_digest_of(snapshot) != header.contents_digest)
    refuse("the signed digest of its contents does not match: they are forged, or were changed");
}

}  // namespace keysieve
