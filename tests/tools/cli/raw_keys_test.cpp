// Keys on the command line are bytes, whatever they look like to the library that parses it.
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class RawKeys : public KeysieveProgram {
 protected:
  // The answers to these words after `query tags --file FILE`, as "key=answer".
  [[nodiscard]] Words answers(Words words) const {
    Words arguments{"query", "tags", "--file", path("tags.ks")};
    arguments.insert(arguments.end(), words.begin(), words.end());
    const Json printed = json(arguments);
    Words found;
    for (const Json& answer : printed.at("answers")) {
      found.push_back(answer.at("key").get<std::string>() + "=" + answer.at("answer").get<std::string>());
    }
    return found;
  }
};

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(RawKeys, AKeyInBracketsIsOneKey) {
  build("tags", "[a,b]\n[]\n");
  EXPECT_THAT(answers({"[a,b]", "[]", "a", "b"}),
              ElementsAre("[a,b]=maybe", "[]=maybe", "a=absent", "b=absent"));
}

TEST_F(RawKeys, NamesOfVerbsAndBracesAreKeys) {
  build("tags", "build\n{}\n%%\n");
  EXPECT_THAT(answers({"build", "{}", "%%", "push"}),
              ElementsAre("build=maybe", "{}=maybe", "%%=maybe", "push=absent"));
}

TEST_F(RawKeys, TheEmptyStringIsAKey) {
  write("keys", std::string("\0a\0", 3));
  static_cast<void>(said({"build", "--set", "tags", "-0", path("keys"), "-o", path("tags.ks")}));
  EXPECT_THAT(answers({""}), ElementsAre("=maybe"));
}

TEST_F(RawKeys, EverythingAfterTwoDashesIsAKey) {
  build("tags", "first\n--json\n-x\n++\n");
  EXPECT_THAT(answers({"first", "--", "--json", "-x", "++", "--file"}),
              ElementsAre("first=maybe", "--json=maybe", "-x=maybe", "++=maybe", "--file=absent"));
}

TEST_F(RawKeys, AWrongOptionIsAnErrorOfQueryAndNoAnswer) {
  EXPECT_THAT(refusal(2, {"query", "tags", "--jsno", "cat"}), HasSubstr("--jsno"));
  EXPECT_THAT(refusal(2, {"query"}), HasSubstr("SET is required"));
}

TEST_F(RawKeys, StandardInputIsPrintedAsItIsOrNotAtAll) {
  EXPECT_THAT(refusal(2, {"query", "tags", "--stdin", "--json"}), HasSubstr("--json"));
}

}  // namespace
}  // namespace keysieve::test
