// The program keysieve as its users run it, with shared memory, files and a store in a temporary directory.
// Every suite of the command line starts from this.
#pragma once

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/run_program.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;
using Json = nlohmann::json;

constexpr uid_t kNobody = 65534;

// What a single space separates.
Words words_of(const std::string& line);
// The one and then the other.
Words operator+(Words words, const Words& more);

// Matches a JSON object that has these members with these values, among others.
MATCHER_P(HasMembers, members, "") {
  for (const auto& member : members.items()) {
    const std::string& name = member.key();
    if (arg.contains(name) && arg.at(name) == member.value()) continue;
    *result_listener << name << " is " << arg.value(name, Json("not there")).dump();
    return false;
  }
  return true;
}
inline auto has(Json::initializer_list_t members) {
  return HasMembers(Json(members));
}

class KeysieveProgram : public ::testing::Test {
 protected:
  KeysieveProgram();

  // Runs it with KEYSIEVE_DIRECTORY naming shared_memory(), and no password in the environment.
  [[nodiscard]] ProgramResult keysieve(Words arguments, std::string input = "") const;
  // The call that keysieve() makes, to be changed.
  [[nodiscard]] ProgramCall call_of(Words arguments, std::string input = "") const;
  // Runs it on a terminal, where this is typed.
  [[nodiscard]] ProgramResult keysieve_typing(const std::string& typed, Words arguments) const;
  // Runs it as a user without rights, who may pass the temporary directory; as this user, unless that is
  // root.
  [[nodiscard]] ProgramResult keysieve_as_nobody(Words arguments) const;
  // Runs it, expects success and nothing on standard error; returns what it prints.
  [[nodiscard]] std::string said(Words arguments, const std::string& input = "") const;
  // The same, whatever it prints.
  void run(Words arguments) const { static_cast<void>(said(std::move(arguments))); }
  // The verbs that its help lists.
  [[nodiscard]] Words verbs() const;
  // The same as said() with --json, parsed.
  [[nodiscard]] Json json(Words arguments) const;

  // Runs it, expects this exit status, nothing on standard output, and one line on standard error; returns
  // that line without the program's name, or with --json the error in its object.
  [[nodiscard]] std::string refusal(int exit_status, Words arguments, const std::string& input = "") const;
  // Expects of each command, whose words are separated by a space, that it is refused with this exit status
  // and that the reason has this text in it.
  struct Refused {
    std::string command;
    std::string reason;
  };
  void expect_refusals(int exit_status, const std::vector<Refused>& all, const std::string& input = "") const;

  // "w0" to "w<count - 1>", a line each, or with another prefix.
  static std::string numbered_lines(int count, const std::string& prefix = "w");
  // Writes a file; returns its path.
  std::string write(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string read(const std::string& path) const;
  // Names in a folder, sorted.
  static Words names_in(const std::string& folder);
  static void permit(const std::string& path, unsigned mode);

  // Builds a snapshot of these keys into <name>.ks, by default of the set "tags"; returns its path. It may
  // warn that what it is --like does not have the set.
  std::string build(const std::string& name, const std::string& key_text, const Words& options = {},
                    const std::string& set_name = "tags") const;
  void publish(const std::string& snapshot) const { run({"publish", snapshot}); }
  void push(const std::string& snapshot, const std::string& url) const { run({"push", snapshot, url}); }
  void push(const std::string& snapshot) const { push(snapshot, store()); }
  // Pulls a set into pulled.ks; returns what it reports.
  [[nodiscard]] Json pull(const std::string& url, const std::string& set_name = "tags") const;
  [[nodiscard]] Json pull() const { return pull(store()); }
  [[nodiscard]] Json inspect(const std::string& snapshot) const { return json({"inspect", snapshot}); }
  // What status reports of the only set.
  [[nodiscard]] Json status_of_set() const;
  // The word that query says for the key in shared memory: maybe or absent.
  [[nodiscard]] std::string answer(const std::string& key, const std::string& set_name = "tags") const;

  [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }
  [[nodiscard]] std::string shared_memory() const { return directory_ / "shm"; }
  // Of "tags", in shared memory.
  [[nodiscard]] std::string set_folder() const { return shared_memory() + "/tags"; }
  // A store that is made when it is first written to.
  [[nodiscard]] std::string store() const { return "lmdb:" + directory_ / "store"; }
  [[nodiscard]] std::unique_ptr<Store> opened_store() const { return open_store(store()); }

  TemporaryDirectory directory_;
};

// Changes one bit in a file.
void damage(const std::string& path, std::size_t offset);

}  // namespace keysieve::test
