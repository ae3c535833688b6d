#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/signing_keys.hpp"
#include "tests/tools/transfer/transfer_fixture.hpp"
#include "tools/signatures/verify.hpp"
#include "tools/transfer/update.hpp"

namespace keysieve::test {
namespace {

class SignedUpdate : public TransferTest {
 protected:
  UpdateResult update(const Signer* signer) {
    return keysieve::update(hooked_, "tags", {.added = {"new"}, .removed = {}, .as_of = 1'700'000'060}, {},
                            {}, signer);
  }
  void expect_kept() { EXPECT_EQ(current().generation, 1U); }

  const SigningKey key_ = signing_key('1');
  const SigningKey other_ = signing_key('2');
};

TEST_F(SignedUpdate, SignsTheNextGeneration) {
  push(build_snapshot({.growth = 2.0, .signer = &key_}));
  EXPECT_EQ(update(&key_).pushed.record.generation, 2U);
  const Pulled pulled = pull();
  EXPECT_TRUE(answers_maybe(view_of(pulled.snapshot), "new"));
  EXPECT_NO_THROW(check_signature(view_of(pulled.snapshot), {key_.public_key()}, "it"));
}

TEST_F(SignedUpdate, IsRefusedWithoutAKey) {
  push(build_snapshot({.growth = 2.0, .signer = &key_}));
  EXPECT_THAT(message_of<ErrorKind::Usage>([this] { update(nullptr); }),
              HasSubstr("would lose its signature"));
  expect_kept();
}

TEST_F(SignedUpdate, SignsNothingThatTheKeyHasNotSigned) {
  push(build_snapshot({.growth = 2.0, .signer = &other_}));
  EXPECT_THAT(message_of<ErrorKind::NotSigned>([this] { update(&key_); }),
              AllOf(HasSubstr("generation 1"), HasSubstr("is signed by")));
  expect_kept();
}

TEST_F(SignedUpdate, SignsNothingThatIsNotSigned) {
  push(build_snapshot({.growth = 2.0}));
  EXPECT_THAT(message_of<ErrorKind::NotSigned>([this] { update(&key_); }), HasSubstr("is not signed"));
  expect_kept();
}

// No verb builds both, but anyone who may write to the store can put counters next to a signed snapshot.
TEST_F(SignedUpdate, IsRefusedWithCounters) {
  SnapshotBuilder builder(settings_of({.kind = "bloom", .growth = 2.0, .signer = &key_}));
  add_keys(builder, 1'000);
  const SnapshotBytes snapshot = builder.finish();
  const SnapshotBytes counters = builder.counters(view_of(snapshot));
  keysieve::push(*store_, view_of(snapshot), {}, {}, unix_now(), counters.get());
  EXPECT_THAT(message_of<ErrorKind::Usage>([this] { update(&key_); }),
              HasSubstr("has counters, which are not signed"));
  expect_kept();
}

}  // namespace
}  // namespace keysieve::test
