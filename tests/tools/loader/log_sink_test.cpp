#include "tools/loader/logging.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include <array>
#include <stdexcept>
#include <string>

#include "core/worker/base/file_descriptor.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"

namespace keysieve::test {
namespace {

// A pipe that is full and that nobody reads, until the test does.
class UnreadPipe {
 public:
  UnreadPipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
    read_end_ = FileDescriptor(ends[0]);
    write_end_ = FileDescriptor(ends[1]);
    ::fcntl(read_end_.get(), F_SETFL, O_NONBLOCK);
    ::fcntl(write_end_.get(), F_SETFL, O_NONBLOCK);
    while (::write(write_end_.get(), "x", 1) == 1) {
    }
    ::fcntl(write_end_.get(), F_SETFL, 0);
  }

  [[nodiscard]] int write_end() const noexcept { return write_end_.get(); }
  // What is in it now.
  [[nodiscard]] std::string read_all() const {
    std::string text;
    std::array<char, 4096> some;
    for (ssize_t count = 0; (count = ::read(read_end_.get(), some.data(), some.size())) > 0;)
      text.append(some.data(), static_cast<std::size_t>(count));
    return text;
  }

 private:
  FileDescriptor read_end_;
  FileDescriptor write_end_;
};

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class LogSinkTest : public ::testing::Test {
 protected:
  static spdlog::logger logger_to(int descriptor) {
    spdlog::logger logger("keysieved", std::make_shared<LogSink>(descriptor));
    logger.set_pattern("%l: %v");
    return logger;
  }
};

TEST_F(LogSinkTest, DropsLinesThatNobodyReadsAndCountsThem) {
  const UnreadPipe pipe;
  spdlog::logger logger = logger_to(pipe.write_end());
  for (int i = 0; i < 3; ++i) logger.info("dropped");
  const std::string before = pipe.read_all();
  EXPECT_THAT(before, Not(HasSubstr("dropped")));
  logger.info("read");
  logger.info("read, too");
  EXPECT_EQ(pipe.read_all(),
            "warning: 3 lines of the log were dropped here: nobody read them\ninfo: read\ninfo: read, too\n");
}

// As that of the journal.
TEST_F(LogSinkTest, DropsLinesThatASocketHasNoRoomFor) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const FileDescriptor read_end(ends[0]);
  const FileDescriptor write_end(ends[1]);
  spdlog::logger logger = logger_to(write_end.get());
  const std::string line(10'000, 'x');
  for (int i = 0; i < 100; ++i) logger.info(line);
  std::string text(10'000'000, ' ');
  text.resize(static_cast<std::size_t>(::recv(read_end.get(), text.data(), text.size(), MSG_DONTWAIT)));
  while (text.back() != '\n' || text.find("read again") == std::string::npos) {
    logger.info("read again");
    std::array<char, 65'536> more;
    const ssize_t count = ::recv(read_end.get(), more.data(), more.size(), MSG_DONTWAIT);
    if (count > 0) text.append(more.data(), static_cast<std::size_t>(count));
  }
  EXPECT_THAT(text, HasSubstr("lines of the log were dropped here"));
  EXPECT_THAT(text, EndsWith("\ninfo: read again\n")) << "a line that was cut has an end";
}

TEST_F(Keysieved, IsNotHeldByALogThatNobodyReads) {
  const UnreadPipe pipe;
  site_.push("tags", kKeys);
  site_.configure(tags_set, site_.store_url(), "20ms");
  keysieved_.emplace(std::vector<std::string>{"--log-level", "debug", "--config", site_.config_path()},
                     std::vector<std::string>{}, pipe.write_end());
  ASSERT_TRUE(follows("tags", 1));
  site_.add("tags", kAdded);
  EXPECT_TRUE(eventually([&] { return site_.knows("tags", kAdded); }));
  site_.push("tags", kMoreKeys);
  EXPECT_TRUE(follows("tags", 2));
  EXPECT_EQ(keysieved_->stop(), 0);
}

TEST_F(Keysieved, EndsByAnErrorThoughNobodyReadsIt) {
  const UnreadPipe pipe;
  KeysievedProcess keysieved({"--config", site_.config_path() + ".none"}, {}, pipe.write_end());
  EXPECT_EQ(keysieved.exit_status(), 78);
}

}  // namespace
}  // namespace keysieve::test
