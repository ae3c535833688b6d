// Secret keys for tests, always the same ones.
#pragma once

#include <sys/stat.h>

#include <fstream>
#include <string>

#include "tests/support/temporary_directory.hpp"
#include "tools/signatures/signing_key.hpp"

namespace keysieve::test {

inline void write_key_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  ::chmod(path.c_str(), 0600);
}

// The key whose seed is 64 times this digit.
inline SigningKey signing_key(char digit) {
  const TemporaryDirectory directory;
  write_key_file(directory / "key", std::string(kSecretKeyPrefix) + std::string(64, digit) + "\n");
  return SigningKey::load(directory / "key");
}

}  // namespace keysieve::test
