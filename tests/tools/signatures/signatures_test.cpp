#include "tools/signatures/public_keys.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/builder/base/file_io.hpp"
#include "core/builder/snapshot/builder.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/checksum.hpp"
#include "core/worker/base/mapped_region.hpp"
#include "tests/core/sample_snapshot.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/signing_keys.hpp"

namespace keysieve::test {
namespace {

const SigningKey kKey = signing_key('1');
const SigningKey kOtherKey = signing_key('2');

constexpr std::uint32_t kShardBytes = 1024;

BuildSettings settings(const Signer* signer) {
  return {.set_name = "tags",
          .shard_bytes = kShardBytes,
          .as_of = kAsOf,
          .built_at = kAsOf,
          .build_id = {1},
          .signer = signer};
}

SnapshotBytes built(const Signer* signer, int keys = 50) {
  return build_snapshot(settings(signer), numbered_keys("key", keys));
}

// Refused by the decoder, by the check of the signature, or not.
std::optional<ErrorKind> refusal(const SnapshotBytes& snapshot,
                                 const PublicKeys& keys = {kKey.public_key()}) {
  return failure_of(
      [&] { check_signature(SnapshotView::decode(snapshot.get(), "it", Check::Everything), keys, "it"); });
}

// As a forger without the key would: all checksums are right, but the signature is that of before.
void correct_checksums(SnapshotBytes& snapshot, const SnapshotLayout& layout) {
  auto header = load<SnapshotHeader>(snapshot.get().data());
  for (std::uint64_t i = 0; i < header.shard_count; ++i) {
    store(snapshot.get().data() + layout.checksum_table.offset + i * sizeof(std::uint64_t),
          checksum(snapshot.get().subspan(layout.shards.offset + i * kShardBytes, kShardBytes)));
  }
  header.tables_checksum = checksum(tables_of(snapshot.get(), layout));
  header.header_checksum = header_checksum(header);
  store(snapshot.get().data(), header);
}

TEST(SignedSnapshot, IsTakenIfOneOfTheKeysHasSignedIt) {
  const SnapshotBytes snapshot = built(&kKey);
  EXPECT_EQ(refusal(snapshot), std::nullopt);
  EXPECT_EQ(refusal(snapshot, {kOtherKey.public_key(), kKey.public_key()}), std::nullopt);
  EXPECT_EQ(refusal(built(&kOtherKey), {kOtherKey.public_key(), kKey.public_key()}), std::nullopt);
  EXPECT_EQ(refusal(snapshot, {}), std::nullopt) << "nothing is required";
  EXPECT_EQ(refusal(built(nullptr), {}), std::nullopt);
  EXPECT_EQ(refusal(built(&kOtherKey)), ErrorKind::NotSigned);
  EXPECT_EQ(refusal(built(nullptr)), ErrorKind::NotSigned);
}

TEST(SignedSnapshot, IsRefusedWithAnyOtherByteInItsHeader) {
  SnapshotBytes snapshot = built(&kKey);
  int by_signature = 0;
  for (std::size_t at = 0; at < kPageBytes; ++at) {
    for (const std::byte change : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
      snapshot.get()[at] ^= change;
      auto header = load<SnapshotHeader>(snapshot.get().data());
      if (at < offsetof(SnapshotHeader, header_checksum)) header.header_checksum = header_checksum(header);
      store(snapshot.get().data(), header);
      const auto reason = refusal(snapshot);
      ASSERT_NE(reason, std::nullopt) << at;
      by_signature += reason == ErrorKind::NotSigned ? 1 : 0;
      snapshot.get()[at] ^= change;
      header = load<SnapshotHeader>(snapshot.get().data());
      header.header_checksum = header_checksum(header);
      store(snapshot.get().data(), header);
    }
  }
  EXPECT_EQ(refusal(snapshot), std::nullopt);
  EXPECT_GT(by_signature, 10'000) << "nearly all: few bytes have a value that cannot be";
}

TEST(SignedSnapshot, IsRefusedWithAnyOtherByteBehindItsHeader) {
  const SnapshotBytes whole = built(&kKey);
  const SnapshotLayout layout = snapshot_layout(decode(whole).header());
  for (std::size_t at = kPageBytes; at < whole.get().size(); ++at) {
    SnapshotBytes snapshot = copy_of(whole.get());
    snapshot.get()[at] ^= std::byte{0x10};
    correct_checksums(snapshot, layout);
    const bool is_of_checksums =  // which are corrected themselves
        at >= layout.checksum_table.offset && at < layout.checksum_table.offset + layout.checksum_table.bytes;
    ASSERT_EQ(refusal(snapshot) == std::nullopt, is_of_checksums) << at;
  }
}

// Signs a wrong digest, like a forger who finds bytes with the same XXH3.
class LyingSigner : public Signer {
 public:
  explicit LyingSigner(int lie) : lie_(lie) {}
  [[nodiscard]] Digest digest(Bytes bytes) const override {
    Digest digest = kKey.digest(bytes);
    if (++calls_ == lie_) digest[31] ^= 1;
    return digest;
  }
  [[nodiscard]] const PublicKey& public_key() const override { return kKey.public_key(); }
  [[nodiscard]] Signature sign(Bytes bytes) const override { return kKey.sign(bytes); }

 private:
  int lie_;
  mutable int calls_ = 0;
};

TEST(SignedSnapshot, IsRefusedIfADigestIsThatOfOtherBytes) {
  constexpr int kSomeKeys = 4'000;
  const auto shards = static_cast<int>(decode(built(&kKey, kSomeKeys)).header().shard_count);
  ASSERT_GE(shards, 3);
  for (int lie = 1; lie <= shards + 2; ++lie) {  // of each shard, of the tables, of all these
    const LyingSigner signer(lie);
    EXPECT_EQ(refusal(built(&signer, kSomeKeys)), ErrorKind::NotSigned) << lie;
  }
}

TEST(SignedSnapshot, OfAKeyThatCannotBeIsRefused) {
  SnapshotBytes snapshot = built(&kKey);
  for (const PublicKey& key : {PublicKey{}, PublicKey{1}}) {  // of small order: any signature might match
    auto header = load<SnapshotHeader>(snapshot.get().data());
    header.public_key = key;
    header.signature = {1};
    header.header_checksum = header_checksum(header);
    store(snapshot.get().data(), header);
    EXPECT_EQ(refusal(snapshot, {key}), key == PublicKey{} ? ErrorKind::Data : ErrorKind::NotSigned);
  }
}

TEST(SignedSnapshot, HasTheSameBytesForAnyNumberOfThreads) {
  const auto with = [](unsigned threads) {
    BuildSettings known_absent = settings(&kKey);
    known_absent.has_known_absent = true;
    known_absent.kind = &filter_kind_named("ribbon");
    SnapshotBuilder builder(known_absent, {.threads = threads});
    for (const std::string& key : numbered_keys("key", 100'000)) builder.add(key);
    for (const std::string& key : numbered_keys("absent", 30'000)) {
      const std::string_view given = key;
      builder.add_known_absent(0, {&given, 1});
    }
    return builder.finish();
  };
  const SnapshotBytes by_one = with(1);
  EXPECT_EQ(refusal(by_one), std::nullopt);
  EXPECT_TRUE(std::ranges::equal(by_one.get(), with(4).get()));
}

TEST(SignedSnapshot, DiffersFromAnUnsignedOneOnlyInItsHeader) {
  const SnapshotBytes snapshot = built(&kKey, 60'000);
  const SnapshotBytes other = built(nullptr, 60'000);
  const SnapshotHeader& header = decode(other).header();
  EXPECT_TRUE(std::ranges::equal(snapshot.get().subspan(kPageBytes), other.get().subspan(kPageBytes)));
  EXPECT_FALSE(header.is_signed());
  EXPECT_EQ(header.public_key, PublicKey{});
  EXPECT_EQ(header.signature, Signature{});
  EXPECT_EQ(header.contents_digest, Digest{});
}

// The bytes of a signed snapshot, as tests/core/snapshot/golden_test.cpp pins those of others.
// KEYSIEVE_WRITE_GOLDEN=1 writes the file.

const std::string kPath = KEYSIEVE_GOLDEN_DIRECTORY "/signed.ks";

SnapshotBytes signed_snapshot() {
  const SigningKey key = signing_key('7');
  return build_snapshot({.set_name = "golden-set",
                         .target_fpr = 0.01,
                         .shard_bytes = kShardBytes,
                         .seed = {0x0123456789abcdef, 0xfedcba9876543210},
                         .as_of = 1'400'000'000,
                         .built_at = 1'400'000'060,
                         .build_id = {0xa0, 0xa1, 0xa2, 0xa3},
                         .signer = &key},
                        numbered_keys("key", 60'000));
}

TEST(SignedGoldenSnapshot, IsBuiltByteByByte) {
  const SnapshotBytes snapshot = signed_snapshot();
  if (std::getenv("KEYSIEVE_WRITE_GOLDEN") != nullptr)
    std::ofstream(kPath, std::ios::binary) << as_text(snapshot.get());
  const MappedRegion golden = map_file(kPath);
  EXPECT_TRUE(as_text(snapshot.get()) == as_text(bytes_of(golden)));
}

TEST(SignedGoldenSnapshot, IsSignedByItsKey) {
  const MappedRegion golden = map_file(kPath);
  const SnapshotView view = SnapshotView::decode(bytes_of(golden), kPath, Check::Everything);
  EXPECT_EQ(to_hex(view.header().public_key),
            "c853ad0f0cd2b619aea92ceec4fd56a24d6499d584ce79257e45cfd8139b60a7");
  EXPECT_GT(view.header().shard_count, 1U);
  EXPECT_NO_THROW(check_signature(view, {view.header().public_key}, kPath));
}

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

TEST_F(SigningKeyFile, IsRefusedIfOthersMayReadOrWriteIt) {
  SigningKey::create(path_);
  for (const unsigned mode : {0640U, 0604U, 0620U, 0601U}) {
    std::filesystem::permissions(path_, std::filesystem::perms{mode});
    EXPECT_EQ(failure_of([this] { SigningKey::load(path_); }), ErrorKind::NotTrusted) << mode;
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
