// A pipe that is full and that nobody reads, until the test does.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <string>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve::test {

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

}  // namespace keysieve::test
