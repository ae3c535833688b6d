// Signs snapshots while they are made. The core only lays out and fills the fields; tools/signatures has the
// cryptography, so that what only reads needs no library for it.
#pragma once

#include "core/worker/base/bytes.hpp"
#include "core/worker/snapshot/layout.hpp"

namespace keysieve {

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
