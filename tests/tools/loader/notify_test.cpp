#include <sys/socket.h>
#include <sys/un.h>

#include <array>

#include "core/publisher/shm/publisher.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "core/worker/shm/control_file.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"

namespace keysieve::test {
namespace {

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

// systemd's end of the notification socket.
class KeysievedNotify : public Keysieved {
 protected:
  KeysievedNotify() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const sockaddr_un address = unix_address(path_);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }

  void start(std::vector<std::string> environment = {}) {
    environment.push_back("NOTIFY_SOCKET=" + path_);
    Keysieved::start(environment);
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

  std::string path_ = site_.root() / "notify.sock";
  FileDescriptor socket_;
  std::string told_;
};

TEST_F(KeysievedNotify, IsNotReadyBeforeWhatIsThereCanBePublishedAndAsksForMoreTimeInTheFirstRoundAlone) {
  site_.push("tags", kKeys);
  site_.configure(tags_set, site_.store_url(), "1s");  // it would ask each second
  {
    const Publisher other({.directory = site_.directory()}, "tags");
    start();
    ASSERT_TRUE(is_told("EXTEND_TIMEOUT_USEC=120000000\n")) << told_;
    ASSERT_TRUE(is_told("STATUS=0 of 1 set current; tags: cannot publish: ")) << told_;
    const std::size_t first_round = told_.size();
    ASSERT_TRUE(looks_again(2)) << log();
    read_all();
    EXPECT_EQ(told_.find("READY"), std::string::npos) << told_;
    EXPECT_EQ(told_.find("EXTEND", first_round), std::string::npos) << told_;
  }
  EXPECT_TRUE(is_told("READY=1")) << told_;
}

// A store that takes connections and never answers.
class SilentStore {
 public:
  explicit SilentStore(const std::string& path)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const sockaddr_un address = unix_address(path);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket_.get(), SOMAXCONN), 0);
  }
  // Whether a client is waiting for its answer now.
  [[nodiscard]] bool is_asked() {
    if (!client_.is_open())
      client_ = FileDescriptor(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    return client_.is_open();
  }
  void hang_up() {
    socket_.close();
    client_.close();
  }

 private:
  FileDescriptor socket_;
  FileDescriptor client_;
};

// A process that adds one key after the other to set "tags", as fast as the store takes them, until the
// object is gone.
class PouringAdds {
 public:
  static constexpr int kFirst = 1'000'000;  // the number of the first key

  explicit PouringAdds(const std::string& url) : child_(start_process([&]() -> int { pour(url); })) {}
  PouringAdds(const PouringAdds&) = delete;
  PouringAdds& operator=(const PouringAdds&) = delete;
  ~PouringAdds() {
    ::kill(child_, SIGKILL);
    wait_for(child_);
  }

 private:
  [[noreturn]] static void pour(const std::string& url) {
    const auto store = open_store(url);
    for (int i = 0;; ++i) {
      const std::string key = key_number(kFirst + i);
      store->append(adds_log(*store, "tags"), std::span(&key, 1));
    }
  }

  pid_t child_;
};

// After a reboot. One store that hangs would be enough to keep everything back. Seen sets have no cache: only
// their store knows what was seen before.
TEST_F(KeysievedNotify, IsReadyWithWhatIsCachedOnceItHasAskedForSeenSetsAndNoOtherStore) {
  RedisServer redis;
  for (const char* name : {"tags", "shop"}) site_.push(name, kKeys, redis.unix_url());
  const std::string url = redis.unix_url() + "?timeout=1h";
  site_.configure(tags_set + shop_set, url);
  start();
  ASSERT_TRUE(is_told("STATUS=2 of 2 sets current")) << told_;
  keysieved_->stop();
  site_.wipe_shared_memory();
  read_all();
  told_.clear();
  ::kill(redis.pid(), SIGSTOP);
  const std::string path = site_.root() / "silent";
  SilentStore silent(path);
  site_.configure(tags_set + shop_set + "[store.seen]\nurl = \"redis+unix://" + path + "?timeout=1h\"\n" +
                      "[[seen]]\nname = \"clicks\"\nkeys = 400\nwindow = \"1h\"\nstore = \"seen\"\n",
                  url);
  start();
  ASSERT_TRUE(eventually([&] { return silent.is_asked(); })) << log();
  EXPECT_TRUE(site_.knows("tags", kKeys));
  EXPECT_TRUE(site_.knows("shop", kKeys));
  read_all();
  EXPECT_EQ(told_.find("READY"), std::string::npos) << told_;
  silent.hang_up();
  EXPECT_TRUE(is_told("READY=1\nSTATUS=0 of 3 sets current; tags: the store was not asked yet; shop: "))
      << told_;
}

TEST_F(KeysievedNotify, GivesASignOfLifeBetweenTwoStoresThatHang) {
  constexpr int kStores = 8;
  const std::string path = site_.root() / "silent";
  const SilentStore silent(path);
  std::string stores;
  for (int i = 0; i < kStores; ++i) {
    const std::string name = "number" + std::to_string(i);
    stores += "[store." + name + "]\nurl = \"redis+unix://:secret@" + path + "?timeout=50ms\"\n";
    stores += "[[set]]\nname = \"" + name + "\"\nstore = \"" + name + "\"\n";
  }
  site_.configure(tags_set + stores, site_.store_url(), "1h");
  start({"WATCHDOG_USEC=60000"});  // a sign is due every 20 ms
  ASSERT_TRUE(eventually([&] {
    read_all();
    return keysieved_->lines_with("cannot be watched for") >= kStores;
  })) << log();
  int signs = 0;
  for (std::size_t at = 0; (at = told_.find("WATCHDOG=1", at)) != std::string::npos; ++at) ++signs;
  EXPECT_GE(signs, kStores - 1) << told_;
}

TEST_F(KeysievedNotify, IsReadyWhenNothingWasPushedYetAndTellsOfAReloadAndOfItsEnd) {
  site_.configure(tags_set);
  start();
  ASSERT_TRUE(is_told("READY=1\nSTATUS=0 of 1 set current; tags: store ")) << told_;
  told_.clear();
  keysieved_->send(SIGHUP);
  ASSERT_TRUE(is_told("RELOADING=1\nMONOTONIC_USEC=")) << told_;
  EXPECT_TRUE(is_told("READY=1")) << told_;
  EXPECT_EQ(keysieved_->stop(), 0);
  EXPECT_TRUE(is_told("STOPPING=1")) << told_;
}

TEST_F(KeysievedNotify, IsNotHeldByAServiceManagerThatDoesNotRead) {
  site_.configure(tags_set, site_.store_url(), "1s");
  start({"WATCHDOG_USEC=3000"});  // a sign each millisecond
  ASSERT_TRUE(looks_again(2)) << log();
  site_.push("tags", kKeys);
  EXPECT_TRUE(eventually([&] { return site_.live_generation("tags") == 1U; }));
  EXPECT_EQ(keysieved_->stop(), 0);
  EXPECT_TRUE(is_told("READY=1")) << told_;
}

// What systemd ends it for by WatchdogSec= as well.
TEST_F(KeysievedNotify, GivesNoSignOfLifeWhileItIsStoppedAndReadersGoOn) {
  site_.push("tags", kKeys);
  site_.configure(tags_set);
  start({"WATCHDOG_USEC=60000"});
  ASSERT_TRUE(is_told("READY=1")) << told_;
  keysieved_->send(SIGSTOP);
  const auto control =
      open_control_page<const ControlPage>(SetFolder::open(site_.directory(), "tags", std::nullopt));
  ASSERT_TRUE(eventually([this] { return keysieved_->is_stopped(); }));
  site_.push("tags", added_keys(1000));
  read_all();
  told_.clear();
  const UnixSeconds confirmed = control.page().last_confirmed;
  ASSERT_TRUE(eventually([&] { return unix_now() - control.page().heartbeat >= 2; }));
  EXPECT_EQ(control.page().last_confirmed, confirmed);
  read_all();
  EXPECT_EQ(told_, "");
  EXPECT_TRUE(site_.knows("tags", kKeys));
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  keysieved_->send(SIGCONT);
  EXPECT_TRUE(is_told("WATCHDOG=1")) << told_;
  EXPECT_TRUE(follows("tags", 2));
  EXPECT_TRUE(site_.knows("tags", added_keys(1000)));
  EXPECT_TRUE(eventually([&] { return control.page().last_confirmed > confirmed; }));
}

TEST_F(KeysievedNotify, FeedsTheWatchdogWhileItWaits) {
  site_.configure(tags_set, site_.store_url(), "1h");
  start({"WATCHDOG_USEC=60000"});
  ASSERT_TRUE(is_told("READY=1")) << told_;
  for (int i = 0; i < 3; ++i) {
    told_.clear();
    ASSERT_TRUE(is_told("WATCHDOG=1")) << told_;
  }
}

// That shared memory was wiped, only a round finds.
TEST_F(KeysievedNotify, FeedsTheWatchdogKeepsToItsRoundsAndAnswersSignalsWhileAddsPourIn) {
  const RedisServer redis;
  const std::string url = redis.unix_url();
  const auto learns = [this](KeyRange keys) {
    return eventually([&] {
      read_all();  // as systemd does: a full socket would hold the loader up
      return site_.knows("tags", keys);
    });
  };
  site_.push("shop", first_keys(500), url);
  site_.push("tags", kKeys, url);
  site_.configure(tags_set + shop_set, url, "100ms");
  start({"WATCHDOG_USEC=60000"});
  ASSERT_TRUE(is_told("READY=1")) << told_;
  ASSERT_TRUE(follows("shop", 1)) << log();
  const PouringAdds pouring(url);
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(learns({PouringAdds::kFirst, 200 * i})) << log();
    told_.clear();
    ASSERT_TRUE(is_told("WATCHDOG=1")) << told_;
  }
  std::filesystem::rename(site_.directory() + "/shop", site_.root() / "gone");
  EXPECT_TRUE(follows("shop", 1)) << log();
  keysieved_->send(SIGUSR1);
  EXPECT_TRUE(says("refreshing all sets now")) << log();
  keysieved_->send(SIGHUP);
  EXPECT_TRUE(says("configuration reloaded")) << log();
  EXPECT_TRUE(learns({PouringAdds::kFirst, 3000})) << log();
  EXPECT_EQ(keysieved_->stop(), 0);
}

}  // namespace
}  // namespace keysieve::test
