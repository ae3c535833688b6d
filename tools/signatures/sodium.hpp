// libsodium, which must be started before it is used.
#pragma once

#include "core/builder/snapshot/signer.hpp"

namespace keysieve {

// May be called any number of times, by any thread. Throws MissingInput if the system has no randomness.
void start_sodium();

// BLAKE2b-256. Needs no start.
Digest digest_of(Bytes bytes) noexcept;

}  // namespace keysieve
