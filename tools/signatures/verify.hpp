// Whether a snapshot was built by the owner of a key. docs/snapshot_format.md says what is signed.
#pragma once

#include <string>

#include "core/worker/snapshot/snapshot.hpp"
#include "tools/signatures/public_keys.hpp"

namespace keysieve {

// Throws NotSigned, which begins with `source`, unless the snapshot is signed by one of the keys and each of
// its bytes is covered. Reads all bytes. Accepts everything if there are no keys. The signature covers set
// name and as_of; whether these are the expected ones is for the caller to check.
void check_signature(const SnapshotView& snapshot, const PublicKeys& keys, const std::string& source);

}  // namespace keysieve
