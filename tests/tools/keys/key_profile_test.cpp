#include "tools/keys/key_profile.hpp"

#include "core/worker/base/error.hpp"
#include "tests/support/matchers.hpp"

namespace keysieve::test {
namespace {

// What is said of one key: that it is refused, that it is suspect, or nothing.
std::string said_of(std::string_view profile, std::string_view key,
                    PublicSuffixes suffixes = PublicSuffixes::Suspect) {
  ProfileCheck check(profile, suffixes);
  check.see(key);
  KeysRead read;
  try {
    check.finish("list", read);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Data);
    return "refused";
  }
  return read.suspicions.empty() ? "" : "suspect";
}

TEST(KeyProfile, RefusesDomainsThatAreNotAsTheDnsHasThem) {
  const std::string longest = std::string(63, 'a') + "." + std::string(63, 'b') + "." + std::string(63, 'c') +
                              "." + std::string(61, 'd');
  for (const std::string& key :
       {std::string("a.example"), std::string("r3---sn-x.example"), std::string("_dmarc.a.example"),
        std::string("xn--mll-hoa.example"), longest}) {
    EXPECT_EQ(said_of("domain-ascii-v1", key), "") << key;
  }
  for (const std::string& key :
       {std::string(), std::string("."), std::string("a..example"), std::string("a.example."),
        std::string("A.example"), std::string("*.example"), std::string("me@a.example"),
        std::string("a.example/path"), std::string("a.example:80"), std::string("m\xc3\xbcll.example"),
        std::string(" a.example"), std::string(64, 'a') + ".example", longest + "d"}) {
    EXPECT_EQ(said_of("domain-ascii-v1", key), "refused") << key;
  }
}

TEST(KeyProfile, SuspectsDomainsBelowWhichAnyoneCanRegisterOne) {
  for (const char* key : {"com", "com.ar", "co.uk", "foo.ck"})
    EXPECT_EQ(said_of("domain-ascii-v1", key), "suspect") << key;
  EXPECT_EQ(said_of("domain-ascii-v1", "com", PublicSuffixes::Allow), "");
  EXPECT_EQ(said_of("domain-ascii-v1", "Com", PublicSuffixes::Allow), "refused");
  for (const char* key : {"example.com.ar", "github.io", "www.ck"})
    EXPECT_EQ(said_of("domain-ascii-v1", key), "") << key;
}

TEST(KeyProfile, RefusesNumbersThatAreWrittenInAnotherWay) {
  for (const char* key : {"0", "42", "-1", "18446744073709551615"})
    EXPECT_EQ(said_of("integer-v1", key), "") << key;
  for (const char* key : {"", "-", "-0", "042", "+42", "4.2", "1e3", " 42", "184467440737095516150"}) {
    EXPECT_EQ(said_of("integer-v1", key), "refused") << key;
  }
}

TEST(KeyProfile, RefusesHashesThatAreWrittenInAnotherWay) {
  const std::string hash = "7C4A8D09CA3762AF61E59520943DC26494F8941B";
  EXPECT_EQ(said_of("sha1-upper-v1", hash), "");
  for (const std::string& key :
       {hash + ":42", "7c4a" + hash.substr(4), hash.substr(1), hash + "0", std::string("123456")}) {
    EXPECT_EQ(said_of("sha1-upper-v1", key), "refused") << key;
  }
}

TEST(KeyProfile, AllowsEverythingInAProfileThatItDoesNotKnow) {
  for (const char* profile : {"", "domain-ascii-v2", "domain-ascii"})
    EXPECT_EQ(said_of(profile, "*.com"), "") << profile;
}

}  // namespace
}  // namespace keysieve::test
