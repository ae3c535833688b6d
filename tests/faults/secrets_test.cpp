// A store's password, or what authorizes at a web server, given by URL, file or environment. Neither program
// prints it, whatever goes wrong. Given by file or environment, it is in no list of processes either.
#include <filesystem>
#include <fstream>

#include "tests/support/certificates.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/redis_server.hpp"
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

  // The ways to give a password to this server.
  [[nodiscard]] std::vector<Way> ways(const std::string& address, const std::string& password) const {
    return {{"url", "redis://:" + password + "@" + address, ""},
            {"file", "redis://" + address + "?password_file=" + write("password", password + "\n"), ""},
            {"environment", "redis://" + address, password}};
  }
  // At least one call of every verb whose help names a URL of a store, or a configuration with some.
  [[nodiscard]] std::vector<Words> calls(const std::string& url) const {
    return {{"push", "--allow-any-as-of", path("tags.ks"), url},
            {"push", "--allow-any-as-of", path("more.ks"), url},
            {"pull", url, "tags", "-o", path("pulled.ks")},
            {"add", "tags", "new", url},
            {"build", "--set", "tags", "--like", url, path("tags.txt"), "-o", path("like.ks")},
            {"bypass", "tags", "--store", url, "--for", "1h"},
            {"bypass", "tags", "--store", url, "--off"},
            {"rollback", "tags", "--list", url},
            {"rollback", "tags", "--yes", url},
            {"seed", "--new", url},
            {"list", url},
            {"doctor", "--config",
             write("doctor.toml", "directory = \"" + shared_memory() + "\"\n[store.main]\nurl = \"" + url +
                                      "\"\n[[set]]\nname = \"tags\"\nstore = \"main\"\n")},
            {"delete", "shop", "--yes", url}};
  }
  // Makes every call; returns how many have succeeded.
  int run_all(const Way& way, int& runs) const {
    int successes = 0;
    for (Words verb : calls(way.url)) {
      for (const bool as_json : {false, true}) {
        if (as_json) verb.emplace_back("--json");
        ProgramCall call = call_of(verb);
        call.environment.back() = "KEYSIEVE_REDIS_PASSWORD=" + way.environment;
        const ProgramResult result = run_program(call);
        EXPECT_THAT(result.output + result.errors, Not(HasSubstr(kSecret))) << way.name << " " << verb[0];
        EXPECT_NE(result.output + result.errors, "") << verb[0];
        if (result.exit_status == 0) ++successes;
        ++runs;
      }
    }
    return successes;
  }
};

std::string file_of_process(pid_t process, const char* name) {
  std::ifstream stream("/proc/" + std::to_string(process) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_F(Secrets, AreNeverPrintedByKeysieve) {
  RedisServer server({"--requirepass", kSecret});
  const std::string address = server.address();
  build("tags", numbered_lines(100));
  build("more", numbered_lines(101));
  for (const std::string& verb : verbs()) {
    const std::string help = said({verb, "--help"});
    if (help.find("URL") == std::string::npos && help.find("--config") == std::string::npos) continue;
    EXPECT_THAT(calls(""), Contains(Contains(verb)));
  }
  int runs = 0;
  for (const Way& way : ways(address, kSecret)) EXPECT_GE(run_all(way, runs), 20) << way.name;
  for (const Way& way : ways(address, std::string("not-") + kSecret)) EXPECT_EQ(run_all(way, runs), 0);
  server.kill();
  for (const Way& way : ways(address, kSecret)) EXPECT_EQ(run_all(way, runs), 0) << way.name;
  soak_report("passwords by URL, file and environment, right, wrong and with the server gone: " +
              std::to_string(runs) + " runs of keysieve, none prints one");
}

// Logs everything, through a refresh, a reload and the loss of the server.
TEST_F(Secrets, AreNeitherInTheLogNorInTheProcessList) {
  RedisServer server({"--requirepass", kSecret});
  const std::string address = server.address();
  build("tags", numbered_lines(100));
  std::filesystem::create_directory(path("cache"));
  for (const Way& way : ways(address, kSecret)) {
    ProgramCall push = call_of({"push", path("tags.ks"), way.url});
    push.environment.back() = "KEYSIEVE_REDIS_PASSWORD=" + way.environment;
    ASSERT_EQ(run_program(push).exit_status, 0);
    const std::string config =
        write("keysieve.toml", "directory = \"" + shared_memory() + "\"\ncache = \"" + path("cache") +
                                   "\"\nlog_level = \"debug\"\npoll_interval = "
                                   "\"20ms\"\n[store.main]\nurl = \"" +
                                   way.url + "\"\n[[set]]\nname = \"tags\"\nstore = \"main\"\n");
    KeysievedProcess keysieved({"--config", config}, {"KEYSIEVE_REDIS_PASSWORD=" + way.environment});
    ASSERT_TRUE(keysieved.says("tags: ")) << keysieved.standard_error();
    EXPECT_THAT(file_of_process(keysieved.pid(), "cmdline"),
                AllOf(HasSubstr("keysieve.toml"), Not(HasSubstr(kSecret))));
    if (is_root()) {
      const auto environment_seen = [&] {
        return file_of_process(keysieved.pid(), "environ").empty() ? 0 : 1;
      };
      EXPECT_EQ(run_as(kNobody, kNobody, environment_seen), 0);
    }
    keysieved.send(SIGUSR1);
    keysieved.send(SIGHUP);
    EXPECT_TRUE(keysieved.says("configuration reloaded")) << keysieved.standard_error();
    server.kill();
    EXPECT_TRUE(keysieved.says("the store is unreachable")) << keysieved.standard_error();
    EXPECT_EQ(keysieved.stop(), 0);
    EXPECT_THAT(keysieved.standard_error() + keysieved.standard_output(), Not(HasSubstr(kSecret)));
    expect_no_secret_in_status();
    server.start();
  }
  soak_report(
      "passwords by URL, file and environment: in no line of keysieved's log at level debug, nor of status, "
      "nor in /proc/PID/cmdline");
}

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
  soak_report("authorization at a web server by file and environment, right and wrong: in no line of " +
              std::to_string(runs) + " runs of keysieve, nor of keysieved's log at level debug");
}

}  // namespace
}  // namespace keysieve::test
