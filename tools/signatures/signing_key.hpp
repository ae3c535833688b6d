// The secret key of a builder, in a file of one line that only its user may read:
//   keysieve-secret-key:<64 hexadecimal digits, the seed of an Ed25519 key>
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/builder/snapshot/signer.hpp"

namespace keysieve {

// Starts libsodium, which must be done before it is used. May be called any number of times, by any thread.
// Throws MissingInput if the system has no randomness.
void start_sodium();

// BLAKE2b-256. Needs no start.
Digest digest_of(Bytes bytes) noexcept;

inline constexpr std::string_view kSecretKeyPrefix = "keysieve-secret-key:";

// In memory it is wiped when it is destroyed.
class SigningKey final : public Signer {
 public:
  // Throws MissingInput, Permission, NotTrusted for a file that group or others may read or write, Data for
  // other content, which is not shown.
  static SigningKey load(const std::string& path);
  // Draws a key and writes its file, with mode 0600. Throws CannotCreate, also if there is a file.
  static SigningKey create(const std::string& path);

  SigningKey(SigningKey&& other) noexcept;
  SigningKey& operator=(SigningKey&&) = delete;
  ~SigningKey() override;

  [[nodiscard]] Digest digest(Bytes bytes) const override { return digest_of(bytes); }
  [[nodiscard]] const PublicKey& public_key() const override { return public_key_; }
  [[nodiscard]] Signature sign(Bytes bytes) const override;

 private:
  using Seed = std::array<std::uint8_t, 32>;

  explicit SigningKey(const Seed& seed);

  std::array<std::uint8_t, 64> secret_{};
  PublicKey public_key_{};
};

}  // namespace keysieve
