// What authorizes at a web server, given by file or environment: neither program prints it, whatever goes
// wrong. Passwords of other stores: tests/tools/cli/secrets.transcript.
#include <filesystem>

#include "tests/support/certificates.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/soak.hpp"
#include "tests/support/web_server.hpp"
#include "tests/tools/cli/keysieve_program.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"

namespace keysieve::test {
namespace {

constexpr const char* kSecret = "s3cret-77";

class Secrets : public KeysieveProgram {
 protected:
  struct Way {
    std::string name;
    std::string url;
    std::string environment;
  };

  // Its exit status says whether the set has trouble.
  void expect_no_secret_in_status() const {
    for (const Words& status : {Words{"status", "tags"}, Words{"status", "--json", "tags"}}) {
      EXPECT_THAT(keysieve(status).output, AllOf(HasSubstr("tags"), Not(HasSubstr(kSecret))));
    }
  }
};

// The server asks for it, and later refuses it.
TEST_F(Secrets, OfAWebServerArePrintedByNoProgram) {
  const Certificates certificates;
  const std::string directives = "ssl_certificate " + certificates.path("server.crt") +
                                 "; ssl_certificate_key " + certificates.path("server.key") +
                                 "; if ($http_authorization != \"Bearer ";
  WebServer server({"ssl", directives + kSecret + "\") { return 401; }"});
  run({"push", build("tags", numbered_lines(100)), "dir:" + server.make_folder("tags")});
  std::filesystem::create_directory(path("cache"));
  const std::string secret = std::string("Bearer ") + kSecret;
  const std::string url = server.url("tags", "https") + "?ca_file=" + certificates.path("ca.crt");
  const std::vector<Way> ways{
      {"file", url + "&authorization_file=" + write("authorization", secret + "\n"), ""},
      {"environment", url, secret}};
  int runs = 0;
  for (const bool is_right : {true, false}) {
    if (!is_right) server.restart(directives + "another\") { return 401; }");
    for (const Way& way : ways) {
      const std::string variable = "KEYSIEVE_HTTP_AUTHORIZATION=" + way.environment;
      for (const Words& verb :
           {Words{"pull", way.url, "tags", "-o", path("pulled.ks")}, Words{"seed", way.url},
            Words{"rollback", "tags", "--list", way.url}, Words{"push", path("tags.ks"), way.url}}) {
        ProgramCall call = call_of(verb);
        call.environment.push_back(variable);
        const ProgramResult result = run_program(call);
        EXPECT_THAT(result.output + result.errors, Not(HasSubstr(kSecret))) << way.name << " " << verb[0];
        EXPECT_EQ(result.exit_status, verb[0] == "push" ? 64 : is_right ? 0 : 77) << result.errors;
        ++runs;
      }
      const std::string config =
          write("keysieve.toml", "directory = \"" + shared_memory() + "\"\ncache = \"" + path("cache") +
                                     "\"\nlog_level = \"debug\"\n[store.main]\nurl = \"" + way.url +
                                     "\"\n[[set]]\nname = \"tags\"\nstore = \"main\"\n");
      KeysievedProcess keysieved({"--config", config}, {variable});
      EXPECT_TRUE(keysieved.says(is_right ? "tags: generation 1" : "cannot log in"))
          << keysieved.standard_error();
      EXPECT_EQ(keysieved.stop(), 0);
      EXPECT_THAT(keysieved.standard_error() + keysieved.standard_output(), Not(HasSubstr(kSecret)));
      expect_no_secret_in_status();
    }
  }
  soak_report(static_cast<std::uint64_t>(runs), "runs of keysieve");
}

}  // namespace
}  // namespace keysieve::test
