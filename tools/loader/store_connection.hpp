// One configured store as the loader uses it: opened when a set first asks in a round, closed after the
// round, so that a store that was moved or restarted is found again; left alone for a while after it failed,
// so that many sets of one dead store cost one timeout.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/error.hpp"
#include "tools/loader/schedule.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

class StoreConnection {
 public:
  using Open = std::function<std::unique_ptr<Store>()>;

  StoreConnection(Open open, std::string name, Milliseconds poll_interval)
      : open_(std::move(open)), name_(std::move(name)), backoff_(poll_interval) {}
  StoreConnection(std::string url, std::string name, Milliseconds poll_interval)
      : StoreConnection([url = std::move(url)] { return open_store(url, IfMissing::Refuse); },
                        std::move(name), poll_interval) {}

  // The store's URL without password, for messages.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  // Calls `ask` with the open store. While it is left alone, throws what it failed with.
  template <typename Ask>
  auto use(SteadyTime now, const Ask& ask) {
    if (failure_ && !backoff_.is_due(now)) throw Error(*failure_);
    try {
      if (!store_) store_ = open_();
      auto answer = ask(*store_);
      failure_.reset();
      backoff_.reset();
      return answer;
    } catch (const Error& error) {
      if (!store_ || error.kind() == ErrorKind::Unavailable) leave_alone(error, now);
      throw;
    }
  }

  void close() noexcept { store_.reset(); }
  // The next use tries, however short ago it failed.
  void try_again_now() { backoff_.reset(); }

 private:
  void leave_alone(const Error& error, SteadyTime now) {
    close();
    failure_ = error;
    backoff_.failed(now);
  }

  Open open_;
  std::string name_;
  std::unique_ptr<Store> store_;
  std::optional<Error> failure_;
  Backoff backoff_;
};

}  // namespace keysieve
