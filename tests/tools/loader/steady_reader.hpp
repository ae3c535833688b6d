// A PHP worker's view of a set while it changes: no key may be absent in it once a process that answers from
// the current publication has seen it.
#pragma once

#include <atomic>
#include <utility>

#include "core/worker/shm/set_reader.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/shared_page.hpp"
#include "tests/tools/loader/site.hpp"

namespace keysieve::test {

// Looks up, in a process of its own and again and again, those keys of a range that were seen().
class SteadyReader {
 public:
  // What end() returns when a key was absent.
  static constexpr int kLostAKey = 3;

  SteadyReader(const Site& site, const std::string& set_name, KeyRange keys)
      : process_(start_process([&] {
          SetReader reader({.directory = site.directory(), .max_jitter = std::chrono::milliseconds(3)},
                           set_name);
          for (bool is_over = false; !is_over;) {
            is_over = shared_->is_over.load();
            const int seen = shared_->seen.load();
            const Attachment* attached = reader.follow();
            if (!attached) return 2;
            for (int i = 0; i < seen; ++i) {
              if (!attached->may_contain(attached->snapshot().hasher()(key_number(keys.first + i)))) {
                return kLostAKey;
              }
            }
          }
          return 0;
        })) {}
  // A case that fails half-way leaves no process that looks for ever.
  ~SteadyReader() {
    if (process_ != 0) end();
  }

  // The first so many keys of the range were, by a process that attached the current publication.
  void seen(int count) { shared_->seen.store(count); }

  // After one more look at all that was seen; 0 when all were maybe all the time.
  int end() {
    shared_->is_over.store(true);
    return wait_for(std::exchange(process_, 0));
  }

 private:
  struct Shared {
    std::atomic<int> seen = 0;
    std::atomic<bool> is_over = false;
  };
  SharedPage<Shared> shared_;
  pid_t process_;
};

}  // namespace keysieve::test
