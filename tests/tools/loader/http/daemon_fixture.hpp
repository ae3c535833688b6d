// keysieved's main loop in a process of its own, with limits that a test can wait for.
#pragma once

#include "tests/support/forked.hpp"
#include "tests/tools/loader/http/status_fixture.hpp"
#include "tools/loader/daemon.hpp"

namespace keysieve::test {

class DaemonWithLimits : public KeysievedStatus {
 protected:
  ~DaemonWithLimits() override {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  void run(const HealthLimits& limits) {
    pid_ = start_process([&] {
      LoaderCommandLine line;
      line.config_path = site_.config_path();
      line.log_level = "error";
      Daemon(line, load_config(line.config_path), limits).run();
      return 0;
    });
  }
  [[nodiscard]] bool answers(const std::string& path, int status) const {
    return eventually([&] { return get(path).status == status; });
  }

 private:
  pid_t pid_ = -1;
};

}  // namespace keysieve::test
