#include <filesystem>

#include "core/builder/base/file_io.hpp"
#include "core/worker/base/mapped_region.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/signing_keys.hpp"
#include "tools/signatures/public_keys.hpp"

namespace keysieve::test {
namespace {

const std::string kPrefix(kSecretKeyPrefix);

class SigningKeyFile : public ::testing::Test {
 protected:
  std::string refusal(const std::string& text) {
    write_key_file(path_, text);
    return message_of<ErrorKind::Data>([this] { SigningKey::load(path_); });
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_ / "sign.key";
};

// RFC 8032, 7.1, test 1.
TEST_F(SigningKeyFile, IsASeedOfEd25519) {
  write_key_file(path_, kPrefix + "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60\n");
  const SigningKey key = SigningKey::load(path_);
  EXPECT_EQ(to_hex(key.public_key()), "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  const Signature signature = key.sign({});
  EXPECT_EQ(signature.front(), 0xe5);
  EXPECT_EQ(signature.back(), 0x0b);
}

TEST_F(SigningKeyFile, IsMadeForItsUserAlone) {
  const SigningKey made = SigningKey::create(path_);
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms{0600});
  EXPECT_EQ(map_file(path_).size(), kPrefix.size() + 65);
  EXPECT_EQ(SigningKey::load(path_).public_key(), made.public_key());
  EXPECT_NE(SigningKey::create(directory_ / "other.key").public_key(), made.public_key());
}

TEST_F(SigningKeyFile, IsNeverOverwritten) {
  const PublicKey made = SigningKey::create(path_).public_key();
  EXPECT_THAT(message_of<ErrorKind::CannotCreate>([this] { SigningKey::create(path_); }),
              HasSubstr("sign.key: is there already"));
  EXPECT_EQ(SigningKey::load(path_).public_key(), made);
}

TEST_F(SigningKeyFile, IsRefusedIfOthersMayReadOrWriteIt) {
  SigningKey::create(path_);
  for (const unsigned mode : {0640U, 0604U, 0620U, 0601U}) {
    std::filesystem::permissions(path_, std::filesystem::perms{mode});
    EXPECT_THAT(message_of<ErrorKind::NotTrusted>([this] { SigningKey::load(path_); }),
                HasSubstr("chmod 600"));
  }
}

TEST_F(SigningKeyFile, IsRefusedWithOtherContentWhichIsNotShown) {
  const std::string digits(64, 'a');
  for (const std::string& text :
       {std::string(), std::string("\n"), digits + "\n", kPrefix + "\n", kPrefix + digits.substr(1) + "\n",
        kPrefix + digits + "a\n", kPrefix + digits + "\n\n", kPrefix + digits.substr(1) + "g\n",
        kPrefix + digits + "\n" + kPrefix, std::string(100'000, 'a')}) {
    EXPECT_THAT(refusal(text), AllOf(HasSubstr("sign.key: is not a secret key"), Not(HasSubstr("aaaa"))))
        << text;
  }
  EXPECT_EQ(refusal(kPrefix + digits), "") << "without a line end";
  EXPECT_EQ(failure_of([this] { SigningKey::load(directory_ / "none"); }), ErrorKind::MissingInput);
  EXPECT_EQ(failure_of([this] { SigningKey::load(directory_.path()); }), ErrorKind::Data);
}

TEST(PublicKeyText, IsRefusedWithoutBeingShown) {
  const std::string digits(64, 'a');
  EXPECT_EQ(to_hex(parse_public_key(digits)), digits);
  for (const std::string& text : {std::string(), digits + "a", digits.substr(1), "g" + digits.substr(1),
                                  digits + "\n", "0x" + digits.substr(2)}) {
    EXPECT_THAT(message_of<ErrorKind::Usage>([&] { parse_public_key(text); }),
                AllOf(HasSubstr("is not a public key"), Not(HasSubstr("aaaa"))));
  }
  EXPECT_THAT(message_of<ErrorKind::Usage>([&] { parse_public_key(kPrefix + digits); }),
              AllOf(HasSubstr("is a secret key"), Not(HasSubstr("aaaa"))));
}

}  // namespace
}  // namespace keysieve::test
