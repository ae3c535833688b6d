// The public keys of builders, as users write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/builder/snapshot/signer.hpp"

namespace keysieve {

// By one of which a snapshot must be signed; several while builders move to another key. None: any snapshot
// is taken, signed or not.
using PublicKeys = std::vector<PublicKey>;

// 64 lower-case hexadecimal digits.
std::string to_hex(const PublicKey& key);
// Throws Usage, which does not show the text: it may be a secret key.
PublicKey parse_public_key(std::string_view text);

bool contains(const PublicKeys& keys, const PublicKey& key) noexcept;

}  // namespace keysieve
