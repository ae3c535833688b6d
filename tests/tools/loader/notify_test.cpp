#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <optional>

#include "core/base/file_descriptor.hpp"
#include "core/shm/publisher.hpp"
#include "tests/tools/loader/keysieved_process.hpp"
#include "tests/tools/loader/pouring_adds.hpp"
#include "tests/tools/loader/site.hpp"

namespace keysieve::test {
namespace {

// systemd's end of the notification socket.
class KeysievedNotify : public ::testing::Test {
 protected:
  KeysievedNotify() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }

  void start(std::vector<std::string> environment = {}) {
    environment.push_back("NOTIFY_SOCKET=" + path_);
    keysieved_.emplace(std::vector<std::string>{"--log-level", "debug", "--config", site_.config_path()},
                       environment);
  }

  // Reads on until the text was notified.
  [[nodiscard]] bool is_told(const std::string& text) {
    return eventually([&] {
      read_all();
      return told_.find(text) != std::string::npos;
    });
  }
  void read_all() {
    std::array<char, 4096> buffer;
    for (;;) {
      const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (size < 0) return;
      told_.append(buffer.data(), static_cast<std::size_t>(size)).append("\n");
    }
  }

  Site site_;
  std::string path_ = site_.root() / "notify.sock";
  FileDescriptor socket_;
  std::string told_;
  std::optional<KeysievedProcess> keysieved_;
};

TEST_F(KeysievedNotify, IsReadyWhenEverySetIsPublished) {
  site_.push("tags", {0, 1000});
  site_.configure(tags_set);
  start();
  ASSERT_TRUE(is_told("READY=1\nSTATUS=1 of 1 sets current\n")) << told_;
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  EXPECT_EQ(keysieved_->stop(), 0);
  EXPECT_TRUE(is_told("STOPPING=1")) << told_;
}

TEST_F(KeysievedNotify, IsNotReadyBeforeWhatIsThereCanBePublished) {
  site_.push("tags", {0, 1000});
  site_.configure(tags_set);
  {
    const Publisher other({.directory = site_.directory()}, "tags");
    start();
    ASSERT_TRUE(is_told("STATUS=0 of 1 sets current; tags: cannot publish: ")) << told_;
    ASSERT_TRUE(eventually([&] { return keysieved_->lines_with("still:") >= 3; }));
    read_all();
    EXPECT_EQ(told_.find("READY"), std::string::npos) << told_;
  }
  EXPECT_TRUE(is_told("READY=1")) << told_;
}

TEST_F(KeysievedNotify, IsReadyWhenNothingWasPushedYet) {
  site_.configure(tags_set);
  start();
  EXPECT_TRUE(is_told("READY=1\nSTATUS=0 of 1 sets current; tags: store " + site_.store_url() +
                      " holds no snapshot of it"))
      << told_;
}

TEST_F(KeysievedNotify, TellsOfAReload) {
  site_.configure(tags_set);
  start();
  ASSERT_TRUE(is_told("READY=1")) << told_;
  told_.clear();
  keysieved_->send(SIGHUP);
  ASSERT_TRUE(is_told("RELOADING=1\nMONOTONIC_USEC=")) << told_;
  EXPECT_TRUE(is_told("READY=1")) << told_;
}

TEST_F(KeysievedNotify, FeedsTheWatchdogWhileItWaits) {
  site_.configure(tags_set, site_.store_url(), "1h");
  start({"WATCHDOG_USEC=60000"});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(is_told("WATCHDOG=1")) << told_;
    told_.clear();
  }
}

TEST_F(KeysievedNotify, FeedsTheWatchdogWhileAddsPourIn) {
  site_.push("tags", {0, 1000});
  site_.configure(tags_set, site_.store_url(), "1h");
  start({"WATCHDOG_USEC=60000"});
  ASSERT_TRUE(is_told("READY=1")) << told_;
  const PouringAdds pouring(site_.store_url());
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(eventually([&] { return site_.knows("tags", {PouringAdds::kFirst, 20 * i}); }));
    told_.clear();
    ASSERT_TRUE(is_told("WATCHDOG=1")) << told_;
  }
  EXPECT_EQ(keysieved_->stop(), 0);
}

}  // namespace
}  // namespace keysieve::test
