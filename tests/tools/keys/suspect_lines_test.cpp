#include "tools/keys/suspect_lines.hpp"

#include <fstream>

#include "tests/support/matchers.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/keys/key_file.hpp"

namespace keysieve::test {
namespace {

// "grave: " and "slight: " in front of each sentence.
std::vector<std::string> found_in(const std::string& text, const std::string& ending) {
  std::vector<std::string> sentences;
  for (const Suspicion& suspicion : suspicions_about(text, ending, {})) {
    sentences.push_back((suspicion.is_grave ? "grave: " : "slight: ") + suspicion.sentence);
  }
  return sentences;
}

std::vector<std::string> found_in(const std::string& text) {
  return found_in(text, text);
}

void expect_grave(const std::string& text, const std::string& what) {
  EXPECT_THAT(found_in(text), Contains(AllOf(StartsWith("grave: "), HasSubstr(what)))) << text;
}

std::string repeated(int times, const std::string& text) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(SuspectLines, AreNotFoundInAnOrdinaryList) {
  for (const char* text : {"",
                           "\n\n",
                           "猫",
                           "猫\n犬\n",
                           "a,b",
                           "a,b\nc\n",
                           "a,b\nc,d,e\n",
                           "it's\n\"a\" or b\n",
                           "\"a\"\nb\n",
                           "a b\nc d\n",
                           "'\n",
                           "\r\n",
                           "Paris, France\nLondon\nRome\n",
                           "\"Heroes\"\nLow\nLodger\n",
                           "\"Hello, Dolly!\"\nEvita, the musical\nCats\n",
                           "Hello, Dolly!\nEvita, the musical\n",
                           "!\n----\nb\n",
                           "Who?\nwhat\n",
                           "null\nNULLS\n",
                           "[a]\nb\nc\n",
                           "{\nb\nc\n",
                           "<3\n<b>\nc\n",
                           "ERROR\nERROR 404\nWarning: Contents Under Pressure\n",
                           "-\n--\n---\n",
                           "(3 rows\n3 rows)\n",
                           "a|b\nc\n"}) {
    EXPECT_THAT(found_in(text), IsEmpty()) << text;
  }
}

TEST(SuspectLines, AreQuoted) {
  EXPECT_THAT(
      found_in("\"猫\"\n\"犬\"\n"),
      ElementsAre("grave: lines are in quotes, which become part of the keys: \"\"猫\"\", \"\"犬\"\""));
  for (const char* text :
       {"'a'\n\n'b'\n", "\"a\"", "name\n\"a\"\n\"b\"\n", "\"a\"\r\n\"b\"\r\n", "'a',\n'b',\n'c'\n"}) {
    expect_grave(text, "in quotes");
  }
}

TEST(SuspectLines, AreAColumnOfCsv) {
  EXPECT_THAT(found_in("cat\n\"dog, big\"\nfish\n"),
              ElementsAre("grave: lines are quoted as in CSV, and the quotes become part of the keys: "
                          "\"\"dog, big\"\""));
  expect_grave("cat\n\"the \"\"dog\"\"\"\nfish\n", "as in CSV");
  expect_grave("cat\n\"big dog\"\nfish\n", "as in CSV");  // PHP's fputcsv
  expect_grave("\"dog, big\"\na;b\n" + repeated(10, "cat\n"), "as in CSV");
  EXPECT_THAT(found_in("\"dog, big\"\n" + repeated(100, "cat\n")), ElementsAre(StartsWith("slight: ")));
  expect_grave(repeated(3, "\"dog, big\"\n") + repeated(1000, "cat\n"), "as in CSV");
}

TEST(SuspectLines, BeginOrEndWithASpace) {
  EXPECT_THAT(
      found_in("猫\n犬 \n\t鳥\n"),
      ElementsAre(
          "grave: lines begin or end with a space, which becomes part of the key: \"犬 \", \"\\t鳥\""));
  for (const char* text : {"a\n b", "\u3000猫\n", "猫\u00A0\n", " \n", "a \r\n"}) {
    EXPECT_THAT(found_in(text), ElementsAre(HasSubstr("a space"))) << text;
  }
}

TEST(SuspectLines, HaveSeveralColumns) {
  EXPECT_THAT(found_in("id,name\n1,猫\n2,犬\n3,鳥\n"),
              ElementsAre("grave: lines have 2 columns, and each line becomes one key (separator: comma): "
                          "\"id,name\", \"1,猫\", \"2,犬\""));
  EXPECT_THAT(found_in("1\t猫\n2\t犬\n3\t鳥\n"),
              ElementsAre(AllOf(HasSubstr("tab"), HasSubstr("\"1\\t猫\""))));
  EXPECT_THAT(found_in("a;b;c\nd;e;f\ng;h;i\n"), ElementsAre(HasSubstr("3 columns")));
  EXPECT_THAT(found_in("a,b;c\nd,e,f;g\nh;i\n"), ElementsAre(HasSubstr("semicolon")));
  EXPECT_THAT(found_in("1|cat\n2|dog\n3|cow\n"), ElementsAre(HasSubstr("bar")));
}

TEST(SuspectLines, HaveSeveralColumnsAlthoughSomeHoldSeparatorsInQuotes) {
  expect_grave("1,cat\n2,\"dog, big\"\n3,\"a \"\"b\"\", c\"\n", "2 columns");
  expect_grave(repeated(20, "1,cat\n") + "2,dog, unquoted\n", "2 columns");
}

TEST(SuspectLines, AreJson) {
  for (const char* text : {"[\"cat\",\"dog\"]\n", "[]", "{}", "[1, 2]\n", "[\"cat\",\"do", "{\"keys\": [\"ca",
                           "[\n  \"cat\",\n  \"dog\"\n]\n", "{\"k\":\"cat\"}\n{\"k\":\"dog\"}\n",
                           "[\"cat\"]\n[\"dog\"]\n", "[{\"k\":1},\n{\"k\":2}]\n"}) {
    expect_grave(text, "JSON");
  }
}

TEST(SuspectLines, AreAPage) {
  for (const char* text :
       {"<!DOCTYPE html>\n<html>\n", "<html><body>502</body></html>", "  <HTML>\n",
        "<?xml version=\"1.0\"?>\n<keys>\n", "<head>\n<title>x</title>\n", "<!-- x --><h1>502</h1>\n"}) {
    expect_grave(text, "HTML or XML");
  }
}

TEST(SuspectLines, AreATableOfADatabaseClient) {
  for (const char* text : {"+------+\n| name |\n+------+\n| cat  |\n| dog  |\n+------+\n",
                           " name \n------\n cat\n dog\n(2 rows)\n", "id | name\n---+-----\n1 | cat\n",
                           "*************************** 1. row ***\nname: cat\n", "cat\n(1 row)\n",
                           "name\n----\ncat\n", "1) \"cat\"\n2) \"dog\"\n", "\u250C\u2500\u2510\n"}) {
    expect_grave(text, "a database client drew");
  }
}

TEST(SuspectLines, HoldTheMessageOfAProgramThatFailed) {
  for (const char* message :
       {"ERROR 2013 (HY000): Lost connection to MySQL server during query", "ERROR 1045 (28000) at line 1: x",
        "ERROR:  canceling statement due to statement timeout", "psql: error: connection to server failed",
        "mysql: [Warning] Using a password on the command line interface can be insecure.",
        "Fatal error: Allowed memory size of 134217728 bytes exhausted in /srv/list.php on line 12",
        "PHP Warning:  Undefined variable $x in list.php on line 3", "  thrown in /srv/list.php on line 9",
        "<b>Warning</b>:  foreach() in <b>/srv/list.php</b> on line <b>3</b><br />",
        "curl: (18) transfer closed with 5 bytes remaining to read", "(error) ERR unknown command",
        "SQLSTATE[HY000]: General error: 2006 MySQL server has gone away", "</body></html>",
        "sh: 1: mysql: not found", "Traceback (most recent call last):"}) {
    expect_grave(std::string(message) + "\ncat\ndog\n", "a program failed");
    expect_grave("cat\ndog\n" + std::string(message), "a program failed");
    EXPECT_THAT(found_in("cat\ndog\n", "bird\n" + std::string(message) + "\n"),
                Contains(HasSubstr(std::string(message).substr(0, 40))));
    // Among keys it may be one.
    const std::string others = repeated(10, "cat\n");
    EXPECT_THAT(found_in(others + std::string(message).substr(std::string(message).find_first_not_of(' ')) +
                         "\n" + others),
                IsEmpty());
  }
}

TEST(SuspectLines, LostLettersInAConversion) {
  expect_grave("cat\n????\ndog\n", "letters were lost");
  expect_grave("?\n", "letters were lost");
  expect_grave("caf\uFFFD\n", "letters were lost");
  EXPECT_THAT(found_in("???\n" + repeated(100, "cat\n")),
              ElementsAre(StartsWith("slight: letters were lost")));
}

TEST(SuspectLines, AreNotUtf8) {
  EXPECT_THAT(found_in("caf\xE9\nth\xE9\nm\xFCsli\n"),
              ElementsAre(AllOf(StartsWith("grave: lines are not UTF-8"), HasSubstr("iconv -f LATIN1"))));
  EXPECT_THAT(found_in("\xFF\n" + repeated(100, "cat\n")),
              ElementsAre(StartsWith("slight: lines are not UTF-8")));
}

TEST(SuspectLines, AreNullsOfADatabase) {
  expect_grave("NULL\n", "NULL became a key");
  expect_grave("\\N\n\\N\ncat\n", "NULL became a key");
  EXPECT_THAT(found_in("NULL\n" + repeated(100, "cat\n")), ElementsAre(StartsWith("slight: ")));
}

TEST(SuspectLines, MayBeSuspectInSeveralWays) {
  EXPECT_THAT(found_in("\"1\", \"a\"\n\"2\", \"b\"\n \"3\", \"c\"\n"), SizeIs(3));
}

TEST(SuspectLines, AreShortenedInTheMessage) {
  EXPECT_THAT(found_in(std::string(100, 'x') + " \n"),
              ElementsAre(AllOf(HasSubstr(": \"" + std::string(40, 'x') + "...\""), Not(HasSubstr("\n")))));
}

TEST(SuspectLines, AreSearchedAtTheBeginningAndTheEndOfAList) {
  const TemporaryDirectory directory;
  const std::string path = directory / "keys.txt";
  const auto suspicions_in = [&path](const std::string& text, const KeyFileFormat& format) {
    std::ofstream(path, std::ios::binary) << text;
    std::vector<std::string> sentences;
    for (const Suspicion& found : read_keys(path, format, [](std::string_view) {}).suspicions) {
      sentences.push_back(found.sentence);
    }
    return sentences;
  };
  EXPECT_THAT(suspicions_in("a,b\nc,d\ne,f", {}), SizeIs(1));
  const std::string long_line = std::string(1'000'000, 'x') + "\n";
  EXPECT_THAT(suspicions_in("a \n" + long_line, {}), SizeIs(1));
  EXPECT_THAT(suspicions_in(long_line + "a \n", {}), SizeIs(1)) << "sorted lists have such lines at the end";
  EXPECT_THAT(suspicions_in(long_line + "a \n" + long_line, {}), IsEmpty());
  EXPECT_THAT(suspicions_in(long_line + "ERROR 2013 (HY000): Lost connection\n", {}), SizeIs(1));
  EXPECT_THAT(suspicions_in({"a,b\0c,d \0", 9}, {.nul_separated = true}), IsEmpty());
  // The line that the 64 KiB cut off must not count as narrower than the others.
  std::string table;
  while (table.size() < 200'000) table += "id,name,price\n";
  EXPECT_THAT(suspicions_in(table, {}), ElementsAre(HasSubstr("3 columns")));
}

}  // namespace
}  // namespace keysieve::test
