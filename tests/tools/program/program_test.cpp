// Small parts that both programs share: exit statuses, accounts, foreign text.
#include "tools/program/program.hpp"

#include <fstream>

#include "core/publisher/shm/trouble.hpp"
#include "core/worker/shm/set_reader.hpp"
#include "tests/support/matchers.hpp"
#include "tools/program/accounts.hpp"
#include "tools/program/nearest_name.hpp"
#include "tools/program/printable.hpp"

namespace keysieve::test {
namespace {

TEST(ExitStatus, FollowsSysexits) {
  for (const auto& [kind, status] : {std::pair(ErrorKind::Usage, 64),
                                     {ErrorKind::Data, 65},
                                     {ErrorKind::Incompatible, 65},
                                     {ErrorKind::MissingInput, 66},
                                     {ErrorKind::Unavailable, 69},
                                     {ErrorKind::CannotCreate, 73},
                                     {ErrorKind::Locked, 75},
                                     {ErrorKind::Permission, 77},
                                     {ErrorKind::Login, 77},
                                     {ErrorKind::Config, 78}}) {
    EXPECT_EQ(keysieve::exit_status_of(kind), status) << to_string(kind);
  }
  EXPECT_EQ(keysieve::exit_status_of(std::runtime_error("unforeseen")), 70);
}

TEST(ExitStatus, SaysThatMemoryIsUsedUp) {
  EXPECT_EQ(keysieve::exit_status_of(std::bad_alloc()), 71);
  EXPECT_EQ(text_of(std::bad_alloc()), "not enough memory");
  EXPECT_EQ(text_of(std::runtime_error("unforeseen")), "unforeseen");
}

// The doctor and `keysieve status` point to it.
TEST(Runbook, HasASectionForEveryCode) {
  std::ifstream file(KEYSIEVE_RUNBOOK);
  const std::string runbook(std::istreambuf_iterator<char>(file), {});
  std::vector<std::string> codes(kErrorKindNames.begin(), kErrorKindNames.end());
  codes.insert(codes.end(), kTroubleNames.begin() + 2, kTroubleNames.end());  // but "none" and "not_asked"
  for (const Availability availability : kAvailabilities) codes.emplace_back(to_string(availability));
  std::erase(codes, "ready");
  EXPECT_GT(codes.size(), 40U);
  for (const std::string& code : codes)
    EXPECT_NE(runbook.find("\n### " + code + "\n"), std::string::npos) << code;
}

TEST(Group, IsFoundByItsName) {
  EXPECT_EQ(group_named("root"), 0U);
}

TEST(Group, MayBeANumberWithoutAName) {
  EXPECT_EQ(group_named("54322"), 54322U);
  for (const char* text : {"54322x", "-1", "99999999999"}) {
    EXPECT_EQ(failure_of([&] { group_named(text); }), ErrorKind::Usage) << text;
  }
}

TEST(Group, IsNamedWhenTheSystemDoesNotKnowIt) {
  EXPECT_EQ(message_of<ErrorKind::Usage>([] { group_named("no-such-group"); }),
            "group \"no-such-group\": no such group");
  EXPECT_EQ(failure_of([&] { group_named(""); }), ErrorKind::Usage);
}

TEST(Accounts, HaveNamesWhereTheSystemKnowsThem) {
  EXPECT_EQ(user_name(0), "root");
  EXPECT_EQ(group_name(0), "root");
  EXPECT_EQ(user_name(3'999'999'999), "3999999999");
  EXPECT_EQ(group_name(3'999'999'999), "3999999999");
}

TEST(PrintableText, HasNoControlCharacters) {
  EXPECT_EQ(printable("pool café 猫"), "pool café 猫");
  EXPECT_EQ(printable("a\033[2Jb\nc\x7F\xC2\x9Bz"), "a\uFFFD[2Jb\uFFFDc\uFFFD\uFFFDz");
}

TEST(PrintableText, IsUtf8WhateverItIsMadeOf) {
  EXPECT_EQ(printable("a\xC3(\xFF\xED\xA0\x80"), "a\uFFFD(\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(printable("\xE7\x8C"), "\uFFFD\uFFFD");
}

TEST(QuotedText, IsCutBetweenCharacters) {
  EXPECT_EQ(quoted("猫犬鳥", 9), "\"猫犬鳥\"");
  for (const std::size_t most : {6U, 7U, 8U}) EXPECT_EQ(quoted("猫犬鳥", most), "\"猫犬...\"") << most;
  EXPECT_EQ(quoted("猫", 2), "\"...\"");
  EXPECT_EQ(quoted("\x80\x80\x80\x80\x80\x80", 5), "\"\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD...\"");
}

TEST(QuotedText, ShowsWhereItEnds) {
  EXPECT_EQ(quoted("a\"b\\c\td\n", 8), R"("a\"b\\c\td)"
                                       "\uFFFD\"");
  EXPECT_EQ(quoted("\t\t\t", 3), R"("\t\t\t")");
}

const std::vector<std::string> kNames{"plan", "push", "pull", "add", "publish", "status", "seed", "--json"};

TEST(NearestName, FindsWhatWasMeant) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"pussh", "push"},  {"psuh", "push"},    {"pul", "pull"},     {"puplish", "publish"},
      {"stat", "status"}, {"pub", "publish"},  {"upsh", "push"},    {"sttaus", "status"},
      {"ad", "add"},      {"--jsn", "--json"}, {"-json", "--json"},
  };
  for (const auto& [word, name] : cases) EXPECT_EQ(nearest_name(word, kNames), name) << word;
}

TEST(NearestName, FindsNothingInAWordThatIsUnlikeAllNames) {
  for (const char* word : {"", "x", "p", "pu", "remove", "tags.ks", "--force", "lmdb:/var/lib/keysieve"}) {
    EXPECT_EQ(nearest_name(word, kNames), std::nullopt) << word;
  }
  EXPECT_EQ(nearest_name("push", {}), std::nullopt);
}

}  // namespace
}  // namespace keysieve::test
