#include "tools/signatures/sodium.hpp"

#include <sodium.h>

#include "core/worker/base/error.hpp"

namespace keysieve {

void start_sodium() {
  if (::sodium_init() < 0) throw Error(ErrorKind::MissingInput, "libsodium cannot be started");
}

Digest digest_of(Bytes bytes) noexcept {
  Digest digest;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  ::crypto_generichash(digest.data(), digest.size(), data, bytes.size(), nullptr, 0);
  return digest;
}

}  // namespace keysieve
