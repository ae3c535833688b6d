#include "tests/support/certificates.hpp"

#include <stdexcept>
#include <vector>

#include "tests/support/run_program.hpp"

namespace keysieve::test {
namespace {

using Words = std::vector<std::string>;

void run(const std::string& program, Words arguments) {
  const ProgramResult result = run_program({program, std::move(arguments)});
  if (result.exit_status != 0) throw std::runtime_error(result.errors);
}

void request(const std::string& name, const std::string& key_path, const Words& more) {
  Words arguments{"req",    "-newkey", "ec",          "-pkeyopt", "ec_paramgen_curve:prime256v1",
                  "-nodes", "-subj",   "/CN=" + name, "-keyout",  key_path};
  arguments.insert(arguments.end(), more.begin(), more.end());
  run("openssl", arguments);
}

}  // namespace

Certificates::Certificates() {
  for (const std::string authority : {"ca", "stranger"}) {
    request(authority, path(authority + ".key"), {"-x509", "-out", path(authority + ".crt")});
  }
  sign("server", "DNS:localhost,IP:127.0.0.1");
  sign("name", "DNS:localhost");
  sign("other", "DNS:other.example");
  sign("expired", "DNS:localhost,IP:127.0.0.1", /*days_ago=*/2);
  run("openssl",
      {"pkey", "-in", path("server.key"), "-aes256", "-passout", "pass:secret", "-out", path("locked.key")});
}

// Valid for a day. openssl makes no certificate that has expired already.
void Certificates::sign(const std::string& name, const std::string& for_whom, int days_ago) const {
  request(name, path(name + ".key"),
          {"-addext", "subjectAltName=" + for_whom, "-addext", "basicConstraints=critical,CA:FALSE", "-out",
           path(name + ".csr")});
  run("faketime", {"-f", "-" + std::to_string(days_ago) + "d", "openssl", "x509", "-req", "-days", "1", "-in",
                   path(name + ".csr"), "-copy_extensions", "copy", "-CA", path("ca.crt"), "-CAkey",
                   path("ca.key"), "-CAcreateserial", "-out", path(name + ".crt")});
}

Certificates& shared_certificates() {
  static Certificates certificates;
  return certificates;
}

}  // namespace keysieve::test
