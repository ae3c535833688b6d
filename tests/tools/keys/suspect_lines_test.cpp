#include "tools/keys/suspect_lines.hpp"

#include <fstream>

#include "tests/support/matchers.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/keys/key_file.hpp"

namespace keysieve::test {
namespace {

TEST(SuspectLines, AreNotFoundInAnOrdinaryList) {
  for (const char* text : {"", "\n\n", "猫", "猫\n犬\n", "a,b", "a,b\nc\n", "a,b\nc,d,e\n",
                           "it's\n\"a\" or b\n", "\"a\"\nb\n", "a b\nc d\n", "'\n", "\r\n"}) {
    EXPECT_THAT(suspicions_about(text), IsEmpty()) << text;
  }
}

TEST(SuspectLines, AreQuoted) {
  EXPECT_THAT(suspicions_about("\"猫\"\n\"犬\"\n"),
              ElementsAre("all lines are in quotes, which become part of the keys: \"\"猫\"\", \"\"犬\"\""));
  for (const char* text : {"'a'\n\n'b'\n", "\"a\"", "name\n\"a\"\n\"b\"\n", "\"a\"\r\n\"b\"\r\n"}) {
    EXPECT_THAT(suspicions_about(text), ElementsAre(HasSubstr("in quotes"))) << text;
  }
}

TEST(SuspectLines, BeginOrEndWithASpace) {
  EXPECT_THAT(
      suspicions_about("猫\n犬 \n\t鳥\n"),
      ElementsAre("lines begin or end with a space, which becomes part of the key: \"犬 \", \"\\t鳥\""));
  for (const char* text : {"a\n b", "\u3000猫\n", "猫\u00A0\n", " \n", "a \r\n"}) {
    EXPECT_THAT(suspicions_about(text), ElementsAre(HasSubstr("a space"))) << text;
  }
}

TEST(SuspectLines, HaveSeveralColumns) {
  EXPECT_THAT(suspicions_about("id,name\n1,猫\n2,犬\n3,鳥\n"),
              ElementsAre("all lines have 2 columns, each line becomes one key (separator: comma): "
                          "\"id,name\", \"1,猫\", \"2,犬\""));
  EXPECT_THAT(suspicions_about("1\t猫\n2\t犬\n"),
              ElementsAre(AllOf(HasSubstr("tab"), HasSubstr("\"1\\t猫\""))));
  EXPECT_THAT(suspicions_about("a;b;c\nd;e;f\n"), ElementsAre(HasSubstr("3 columns")));
  EXPECT_THAT(suspicions_about("a,b;c\nd,e,f;g\n"), ElementsAre(HasSubstr("semicolon")));
}

TEST(SuspectLines, MayBeSuspectInSeveralWays) {
  EXPECT_THAT(suspicions_about("\"1\", \"a\"\n\"2\", \"b\"\n \"3\", \"c\"\n"), SizeIs(2));
}

TEST(SuspectLines, AreShortenedInTheMessage) {
  EXPECT_THAT(suspicions_about(std::string(100, 'x') + " \n"),
              ElementsAre(AllOf(HasSubstr(": \"" + std::string(40, 'x') + "...\""), Not(HasSubstr("\n")))));
}

TEST(SuspectLines, AreSearchedOnlyAtTheBeginningOfAList) {
  const TemporaryDirectory directory;
  const std::string path = directory / "keys.txt";
  const auto suspicions_in = [&path](const std::string& text, const KeyFileFormat& format) {
    std::ofstream(path, std::ios::binary) << text;
    return read_keys(path, format, [](std::string_view) {}).suspicions;
  };
  EXPECT_THAT(suspicions_in("a,b\nc,d", {}), SizeIs(1));
  EXPECT_THAT(suspicions_in("a \n" + std::string(1'000'000, 'x') + "\n", {}), SizeIs(1));
  EXPECT_THAT(suspicions_in(std::string(1'000'000, 'x') + "\na \n", {}), IsEmpty());
  EXPECT_THAT(suspicions_in({"a,b\0c,d \0", 9}, {.nul_separated = true}), IsEmpty());
  // The line that the 64 KiB cut off must not count as narrower than the others.
  std::string table;
  while (table.size() < 200'000) table += "id,name,price\n";
  EXPECT_THAT(suspicions_in(table, {}), ElementsAre(HasSubstr("3 columns")));
}

}  // namespace
}  // namespace keysieve::test
