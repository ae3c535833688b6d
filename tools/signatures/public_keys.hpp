// The public keys of builders, as users write them, and whether a snapshot was built by the owner of one.
// docs/snapshot_format.md says what is signed.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/builder/snapshot/signer.hpp"
#include "core/worker/snapshot/snapshot.hpp"

namespace keysieve {

// By one of which a snapshot must be signed; several while builders move to another key. None: any snapshot
// is taken, signed or not.
using PublicKeys = std::vector<PublicKey>;

// 64 lower-case hexadecimal digits.
std::string to_hex(const PublicKey& key);
// Throws Usage, which does not show the text: it may be a secret key.
PublicKey parse_public_key(std::string_view text);

inline bool contains(const PublicKeys& keys, const PublicKey& key) noexcept {
  return std::ranges::find(keys, key) != keys.end();
}

// Throws NotSigned, which begins with `source`, unless the snapshot is signed by one of the keys and each of
// its bytes is covered. Reads all bytes. Accepts everything if there are no keys. The signature covers set
// name and as_of; whether these are the expected ones is for the caller to check.
void check_signature(const SnapshotView& snapshot, const PublicKeys& keys, const std::string& source);

}  // namespace keysieve
