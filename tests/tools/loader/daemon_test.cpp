#include <fcntl.h>
#include <signal.h>

#include <cstring>

#include "core/worker/base/file_descriptor.hpp"
#include "tests/support/web_server.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"
#include "tests/tools/loader/site.hpp"

// What a running keysieved logs, and follows: tests/tools/cli/running.transcript.
namespace keysieve::test {
namespace {

// A web server tells nothing by itself.
TEST_F(Keysieved, RefreshesAtOnceOnSigusr1) {
  const WebServer server;
  const std::string folder_url = "dir:" + server.make_folder("store");
  site_.push("tags", kKeys, folder_url);
  site_.configure(tags_set, server.url("store"), "1h");
  start();
  ASSERT_TRUE(follows("tags", 1)) << log();
  site_.push("tags", kMoreKeys, folder_url);
  keysieved_->send(SIGUSR1);
  EXPECT_TRUE(follows("tags", 2)) << log();
}

// Wrong from the start; or later, as the first look is held up at the last file, after the one that changes.
TEST_F(Keysieved, KeepsTheOldConfigurationWhenTheNewOneIsWrong) {
  follow_tags();
  site_.configure(tags_set + "max_fqr = 1\n");
  keysieved_->send(SIGHUP);
  ASSERT_TRUE(says("stays in force: " + site_.config_path() + ":9: [[set]] max_fqr: unknown key")) << log();
  site_.configure(tags_set);
  site_.write("conf.d/last.toml", "#");
  const FileDescriptor last(::open((site_.root() / "conf.d/last.toml").c_str(), O_WRONLY | O_CLOEXEC));
  ::signal(SIGIO, SIG_IGN);
  ASSERT_EQ(::fcntl(last.get(), F_SETLEASE, F_WRLCK), 0) << std::strerror(errno);
  keysieved_->send(SIGHUP);
  ASSERT_TRUE(eventually([&] { return ::fcntl(last.get(), F_GETLEASE) != F_WRLCK; }));
  site_.configure(tags_set + "max_sise = 1\n");
  ::fcntl(last.get(), F_SETLEASE, F_UNLCK);
  ASSERT_TRUE(says(":9: [[set]] max_sise: unknown key")) << log();
  site_.push("tags", kMoreKeys);
  EXPECT_TRUE(follows("tags", 2)) << log();
  EXPECT_EQ(keysieved_->stop(), 0);
}

}  // namespace
}  // namespace keysieve::test
