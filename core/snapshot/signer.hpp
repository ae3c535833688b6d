// Signs snapshots while they are made. The core only lays out and fills the fields; tools/signatures has the
// cryptography, so that what only reads needs no library for it.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/bytes.hpp"

namespace keysieve {

using Digest = std::array<std::uint8_t, 32>;     // BLAKE2b-256
using PublicKey = std::array<std::uint8_t, 32>;  // of Ed25519, like the signature
using Signature = std::array<std::uint8_t, 64>;

// Any thread may call any function.
class Signer {
 public:
  Signer() = default;
  Signer(const Signer&) = delete;
  Signer& operator=(const Signer&) = delete;
  virtual ~Signer() = default;

  [[nodiscard]] virtual Digest digest(Bytes bytes) const = 0;
  [[nodiscard]] virtual const PublicKey& public_key() const = 0;
  [[nodiscard]] virtual Signature sign(Bytes bytes) const = 0;
};

}  // namespace keysieve
