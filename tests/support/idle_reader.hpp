// A process that has attached a set, as a PHP worker does at its first lookup, and has been idle since.
#pragma once

#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>

#include "core/worker/shm/set_reader.hpp"
#include "tests/support/forked.hpp"

namespace keysieve::test {

class IdleReader {
 public:
  explicit IdleReader(SetReader reader) {
    std::array<int, 2> attached{};
    if (::pipe(attached.data()) != 0) throw std::runtime_error("pipe");
    process_ = start_process([&] {
      reader.follow();
      if (::write(attached[1], "", 1) != 1) return 1;
      return ::pause();
    });
    ::close(attached[1]);
    char byte = 0;
    static_cast<void>(::read(attached[0], &byte, 1));
    ::close(attached[0]);
  }
  IdleReader(const IdleReader&) = delete;
  IdleReader& operator=(const IdleReader&) = delete;
  ~IdleReader() {
    ::kill(process_, SIGKILL);
    wait_for(process_);
  }
  [[nodiscard]] pid_t pid() const { return process_; }

 private:
  pid_t process_ = 0;
};

}  // namespace keysieve::test
