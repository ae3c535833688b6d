#include "tests/support/certificates.hpp"

#include <stdexcept>
#include <vector>

#include "tests/support/run_program.hpp"

namespace keysieve::test {
namespace {

void openssl(std::vector<std::string> arguments) {
  const ProgramResult result = run_program({"/usr/bin/openssl", std::move(arguments)});
  if (result.exit_status != 0) throw std::runtime_error(result.errors);
}

}  // namespace

Certificates::Certificates() {
  openssl({"req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=test CA", "-keyout", path("ca.key"),
           "-out", path("ca.crt")});
  sign("server", "DNS:localhost,IP:127.0.0.1");
  sign("other", "DNS:other.example");
  constexpr int kYesterday = -1;
  sign("expired", "DNS:localhost,IP:127.0.0.1", kYesterday);
}

// Not by req -x509, which makes no certificate that has expired.
void Certificates::sign(const std::string& name, const std::string& for_whom, int days) const {
  openssl({"req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=" + name, "-addext",
           "subjectAltName=" + for_whom, "-addext", "basicConstraints=critical,CA:FALSE", "-keyout",
           path(name + ".key"), "-out", path(name + ".csr")});
  openssl({"x509", "-req", "-in", path(name + ".csr"), "-copy_extensions", "copy", "-CA", path("ca.crt"),
           "-CAkey", path("ca.key"), "-CAcreateserial", "-days", std::to_string(days), "-out",
           path(name + ".crt")});
}

}  // namespace keysieve::test
