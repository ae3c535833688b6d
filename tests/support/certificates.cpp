#include "tests/support/certificates.hpp"

#include <fstream>
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
  std::ofstream(path("index"));
  std::ofstream(path("ca.conf")) << "[ca]\ndefault_ca=ours\n"
                                    "[ours]\ndatabase="
                                 << path("index")
                                 << "\ndefault_md=sha256\nrand_serial=yes\npolicy=any\ncopy_extensions=copy\n"
                                    "unique_subject=no\n"
                                    "[any]\ncommonName=supplied\n";
  const Words for_a_day{"-days", "1"};
  sign("server", "DNS:localhost,IP:127.0.0.1", for_a_day);
  sign("name", "DNS:localhost", for_a_day);
  sign("other", "DNS:other.example", for_a_day);
  sign("expired", "DNS:localhost,IP:127.0.0.1",
       {"-startdate", "20200101000000Z", "-enddate", "20200102000000Z"});
  run("openssl",
      {"pkey", "-in", path("server.key"), "-aes256", "-passout", "pass:secret", "-out", path("locked.key")});
}

// Other commands of openssl than "ca" make no certificate that has expired already.
void Certificates::sign(const std::string& name, const std::string& for_whom, const Words& validity) const {
  request(name, path(name + ".key"),
          {"-addext", "subjectAltName=" + for_whom, "-addext", "basicConstraints=critical,CA:FALSE", "-out",
           path(name + ".csr")});
  Words arguments{"ca",
                  "-batch",
                  "-notext",
                  "-config",
                  path("ca.conf"),
                  "-outdir",
                  directory_.path(),
                  "-cert",
                  path("ca.crt"),
                  "-keyfile",
                  path("ca.key"),
                  "-in",
                  path(name + ".csr"),
                  "-out",
                  path(name + ".crt")};
  arguments.insert(arguments.end(), validity.begin(), validity.end());
  run("openssl", std::move(arguments));
}

Certificates& shared_certificates() {
  static Certificates certificates;
  return certificates;
}

}  // namespace keysieve::test
