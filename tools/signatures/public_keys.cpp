#include "tools/signatures/public_keys.hpp"

#include <fmt/core.h>
#include <sodium.h>

#include <algorithm>

#include "core/worker/base/error.hpp"
#include "tools/signatures/signing_key.hpp"

namespace keysieve {

std::string to_hex(const PublicKey& key) {
  std::string text;
  for (const std::uint8_t byte : key) text += fmt::format("{:02x}", byte);
  return text;
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

bool contains(const PublicKeys& keys, const PublicKey& key) noexcept {
  return std::ranges::find(keys, key) != keys.end();
}

}  // namespace keysieve
