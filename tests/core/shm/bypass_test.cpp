#include "core/publisher/shm/bypass.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include "core/worker/base/error.hpp"
#include "tests/core/shm/shared_memory.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::publication_seen_by;

class BypassTest : public test::SharedMemory {
 protected:
  [[nodiscard]] std::uint64_t current() const { return writable_control().page().current.load(); }
};

// True of either switch, the operator's and the store's.
struct Switch {
  const char* name;
  void (*set)(const std::string&, std::string_view, UnixSeconds);
  std::uint64_t bit;
  const char* reason;

  friend std::ostream& operator<<(std::ostream& out, const Switch& tested) { return out << tested.name; }
};

class EachBypass : public BypassTest, public ::testing::WithParamInterface<Switch> {
 protected:
  void set(UnixSeconds until) const { GetParam().set(directory_.path(), kSet, until); }
  void clear() const { set(kBypassOver); }
};

INSTANTIATE_TEST_SUITE_P(
    Bypass, EachBypass,
    ::testing::Values(Switch{"OfAnOperator", set_bypass, kBypassBit, "bypassed by an operator of this host"},
                      Switch{"OfTheStore", set_store_bypass, kStoreBypassBit, "bypassed in the store"}),
    [](const auto& tested) { return tested.param.name; });

TEST_P(EachBypass, IsSeenFromTheNextCallOn) {
  publish("key");
  SetReader reader = this->reader();
  EXPECT_TRUE(reader.follow());
  set(0);
  EXPECT_FALSE(reader.follow());
  EXPECT_EQ(reader.availability(), Availability::Bypassed);
  EXPECT_EQ(reader.reason(), GetParam().reason);
  EXPECT_EQ(reader.trouble(), std::nullopt) << "it is no error";
  clear();
  EXPECT_TRUE(reader.follow());
  EXPECT_EQ(reader.availability(), Availability::Ready);
}

// The loader, which would clear the bit, is stopped. The next bypass is seen at the next call.
TEST_P(EachBypass, LeavesCallsToTheOrdinaryChecksAfterItsEnd) {
  publish("key");
  set(unix_now() - 1);
  SetReader reader = this->reader();
  int looks = 0;
  for (int call = 0; call < 10'000; ++call) {
    if (reader.begin_call() && reader.refresh()) ++looks;
    ASSERT_NE(reader.serving(), nullptr);
  }
  EXPECT_LT(looks, 100);
  set(unix_now() + 100);
  EXPECT_FALSE(reader.follow());
}

TEST_P(EachBypass, WorksForRootInAnyonesFolder) {
  if (!test::is_root()) GTEST_SKIP() << "only root can give files to another user";
  publish("key");
  for (const uid_t directory_owner : {12345U, 54321U}) {
    ASSERT_EQ(::chown(directory_.path().c_str(), directory_owner, static_cast<gid_t>(-1)), 0);
    for (const std::string& path : {folder(), file("control")}) {
      ASSERT_EQ(::chown(path.c_str(), 12345, static_cast<gid_t>(-1)), 0) << path;
    }
    set(0);
    const auto control =
        open_control_page<const ControlPage>(SetFolder::open(directory_.path(), kSet, 12345));
    EXPECT_EQ(control.page().current.load(), GetParam().bit | 1U);
    clear();
    EXPECT_EQ(control.page().current.load(), 1U);
  }
}

TEST_P(EachBypass, NeedsAPublishedSet) {
  EXPECT_EQ(test::failure_of([&] { set(0); }), ErrorKind::MissingInput);
  EXPECT_EQ(test::failure_of([&] { clear(); }), ErrorKind::MissingInput);
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

TEST_P(EachBypass, SurvivesAPublication) {
  publish("old");
  SetReader reader = this->reader();
  set(0);
  EXPECT_EQ(publish("new"), 2U);
  EXPECT_EQ(current(), GetParam().bit | 2U);
  EXPECT_EQ(publish("newer"), 3U);
  EXPECT_FALSE(reader.follow());
  EXPECT_EQ(reader.availability(), Availability::Bypassed);
  clear();
  EXPECT_EQ(publication_seen_by(reader), 3U);
}

TEST_P(EachBypass, IsNotClearedBeforeItsTimeIsOver) {
  publish("key");
  for (const UnixSeconds until : {UnixSeconds{0}, unix_now() + 100}) {
    set(until);
    publisher().clear_expired_bypass(unix_now());
    EXPECT_EQ(current(), GetParam().bit | 1U) << until;
  }
}

TEST_F(BypassTest, LastsUntilBothSwitchesAreOff) {
  publish("key");
  SetReader reader = this->reader();
  set_bypass(directory_.path(), kSet, 0);
  set_store_bypass(directory_.path(), kSet, 0);
  EXPECT_FALSE(reader.follow());
  EXPECT_EQ(reader.reason(), "bypassed by an operator of this host, and in the store");

  set_bypass(directory_.path(), kSet, kBypassOver);
  EXPECT_FALSE(reader.follow());
  EXPECT_EQ(reader.reason(), "bypassed in the store");

  set_bypass(directory_.path(), kSet, 0);
  set_store_bypass(directory_.path(), kSet, kBypassOver);
  EXPECT_FALSE(reader.follow());
  EXPECT_EQ(reader.reason(), "bypassed by an operator of this host");

  set_bypass(directory_.path(), kSet, kBypassOver);
  EXPECT_TRUE(reader.follow());
}

TEST_F(BypassTest, EndsEachSwitchSeparately) {
  publish("key");
  SetReader reader = this->reader();
  set_bypass(directory_.path(), kSet, unix_now() - 1);
  set_store_bypass(directory_.path(), kSet, unix_now() + 100);
  EXPECT_FALSE(reader.follow());
  EXPECT_EQ(reader.reason(), "bypassed in the store");
  publisher().clear_expired_bypass(unix_now());
  EXPECT_EQ(current(), kStoreBypassBit | 1U);

  set_bypass(directory_.path(), kSet, unix_now() + 100);
  set_store_bypass(directory_.path(), kSet, unix_now() - 1);
  reader.check_soon();  // the word is what it was before; only the ends differ
  EXPECT_FALSE(reader.follow());
  EXPECT_EQ(reader.reason(), "bypassed by an operator of this host");
  publisher().clear_expired_bypass(unix_now());
  EXPECT_EQ(current(), kBypassBit | 1U);
}

}  // namespace
}  // namespace keysieve
