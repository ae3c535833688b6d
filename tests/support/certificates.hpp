// Certificates that openssl makes, for servers that suites start on this host.
#pragma once

#include <string>

#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {

// <name>.crt and <name>.key, signed by ca.crt: "server" for 127.0.0.1 and localhost, "other" for another
// host, "expired" for this host and of yesterday.
class Certificates {
 public:
  Certificates();

  [[nodiscard]] std::string path(const std::string& file) const { return directory_ / file; }

 private:
  void sign(const std::string& name, const std::string& for_whom, int days = 30) const;

  TemporaryDirectory directory_;
};

}  // namespace keysieve::test
