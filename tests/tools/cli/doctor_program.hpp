// Asks the program's doctor about a directory and a configuration of the case's own.
#pragma once

#include <filesystem>

#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {

class DoctorProgram : public KeysieveProgram {
 protected:
  DoctorProgram() { std::filesystem::create_directory(path("cache")); }

  // What one call of the doctor has found.
  struct Answer {
    int exit_status = 0;
    Json findings;

    // The fact of the one finding of that code about the subject; expects it to be there, as severe as that.
    [[nodiscard]] std::string fact(const std::string& severity, const std::string& subject,
                                   const std::string& code) const {
      for (const Json& finding : findings) {
        if (finding.at("subject") != subject || finding.at("code") != code) continue;
        EXPECT_EQ(finding.at("severity"), severity);
        if (severity != "ok") {
          EXPECT_EQ(finding.at("runbook"), "docs/runbook.md#" + code);
        }
        if (severity == "error") {
          EXPECT_EQ(exit_status, 1);
        }
        return finding.at("fact");
      }
      ADD_FAILURE() << "no " << code << " about " << subject << " in " << findings.dump(1);
      return "";
    }
    // The codes of what is not ok, but for not_tmpfs: the tests run where they are put.
    [[nodiscard]] Words codes() const {
      Words codes;
      for (const Json& finding : findings) {
        if (finding.at("severity") != "ok" && finding.at("code") != "not_tmpfs")
          codes.push_back(finding.at("code"));
      }
      return codes;
    }
  };
  [[nodiscard]] static Answer answer_to(const ProgramCall& call) {
    const ProgramResult result = run_program(call);
    EXPECT_EQ(result.errors, "");
    return {result.exit_status, Json::parse(result.output).at("findings")};
  }
  [[nodiscard]] Answer ask(const Words& arguments = {}, std::optional<uid_t> user = std::nullopt) const {
    ProgramCall call = call_of(Words{"doctor", "--json"} + arguments);
    call.user = user;
    return answer_to(call);
  }
  [[nodiscard]] Answer ask_with_config() const { return ask({"--config", path("keysieve.toml")}); }

  void publish_keys(const Words& options = {}, int keys = 100) const {
    publish(build("tags", numbered_lines(keys), options));
  }
  void push_keys(const std::string& url, const Words& options = {}) const {
    push(build("tags", numbered_lines(100), options), url);
  }
  void configure(const std::string& url, const std::string& set_name = "tags") const {
    write("keysieve.toml", "directory = \"" + shared_memory() + "\"\ncache = \"" + path("cache") +
                               "\"\n[store.main]\nurl = \"" + url + "\"\n[[set]]\nname = \"" + set_name +
                               "\"\nstore = \"main\"\n");
  }
  void load_once() const {
    const ProgramCall call{.program = KEYSIEVED_PROGRAM,
                           .arguments = {"--once", "--config", path("keysieve.toml")}};
    EXPECT_EQ(run_program(call).exit_status, 0);
  }
  // A set that a loader has published, with all in order.
  void load(const std::string& url) const {
    push_keys(url);
    configure(url);
    load_once();
  }
  // So that another user can look into it.
  void open_to_all() const {
    for (const std::string& folder : {path(""), shared_memory()}) permit(folder, 0755);
  }
};

}  // namespace keysieve::test
