// A writer that never rests, beside a loader that has other things to do as well.
#pragma once

#include <signal.h>

#include "tests/support/forked.hpp"
#include "tests/tools/loader/site.hpp"
#include "tools/transfer/adds_log.hpp"

namespace keysieve::test {

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

}  // namespace keysieve::test
