// Certificates that openssl makes, for servers that suites start on this host.
#pragma once

#include <string>
#include <vector>

#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {

// <name>.crt and <name>.key, signed by ca.crt:
// "server" is for 127.0.0.1 and localhost, "name" for localhost alone, "other" for another host; "expired"
// was for this host until 2020. "stranger" is another authority. locked.key has a password.
class Certificates {
 public:
  Certificates();

  [[nodiscard]] std::string path(const std::string& file) const { return directory_ / file; }

 private:
  void sign(const std::string& name, const std::string& for_whom,
            const std::vector<std::string>& validity) const;

  TemporaryDirectory directory_;
};

// Those of this test binary, made by the first case that asks for them.
Certificates& shared_certificates();

}  // namespace keysieve::test
