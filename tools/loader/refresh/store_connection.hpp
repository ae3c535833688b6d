// One configured store as the loader uses it. It is opened when a set first asks, and closed after each
// round and after ten seconds, so that a store that was moved or restarted is found again. After a failure it
// is left alone for a while, so that many sets of one dead store cost one timeout.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/worker/base/error.hpp"
#include "tools/loader/config/schedule.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

using OpenStore = std::function<std::unique_ptr<Store>()>;

// Refuses a store that does not exist: an empty one in its place would look healthy. Does not wait for a
// failover, so that the other stores get their turn.
inline OpenStore store_opener(const std::string& url) {
  return [open = opener_of(url)] { return open(IfMissing::Refuse, Patience::None); };
}

class StoreConnection {
 public:
  StoreConnection(OpenStore open, std::string name, Milliseconds poll_interval)
      : open_(std::move(open)), name_(std::move(name)), backoff_(poll_interval) {}
  // The store's URL without password, for messages.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  // Opens the store where it is not open. While it is left alone, throws the error it failed with. Then call
  // answered() or failed().
  Store& open(SteadyTime now) {
    if (now != used_at_) asked_at_ = std::chrono::steady_clock::now();
    if (failure_ && !backoff_.is_due(now)) throw Error(*failure_);
    if (now - opened_at_ > kKeptOpen) close();
    used_at_ = now;
    if (!store_) {
      try {
        store_ = open_();
      } catch (const Error& error) {
        leave_alone(error, now);
        throw;
      }
      opened_at_ = now;
    }
    return *store_;
  }
  void answered() {
    failure_.reset();
    backoff_.reset();
  }
  // An error while the open store was asked. Leaves it alone if it was an outage.
  void failed(const Error& error, SteadyTime now) {
    if (store_ && error.is_outage()) leave_alone(error, now);
  }

  // Does all that for one question: calls `ask` with the open store.
  template <typename Ask>
  auto use(SteadyTime now, const Ask& ask) {
    Store& store = open(now);
    try {
      auto answer = ask(store);
      answered();
      return answer;
    } catch (const Error& error) {
      failed(error, now);
      throw;
    }
  }

  void close() noexcept { store_.reset(); }
  // As Store::distrust_copies().
  void distrust_copies() {
    if (store_) store_->distrust_copies();
  }
  // The last use has failed.
  [[nodiscard]] bool is_away() const noexcept { return failure_.has_value(); }
  // Empty: it is not away.
  [[nodiscard]] std::string failure() const { return failure_ ? failure_->what() : ""; }
  [[nodiscard]] bool was_asked() const noexcept { return used_at_ != SteadyTime{}; }
  // The next use tries again, even right after a failure.
  void try_again_now() { backoff_.reset(); }

 private:
  static constexpr std::chrono::seconds kKeptOpen{10};  // shorter than servers wait for idle clients

  // From when it has failed: a timeout may be longer than the wait, and each set would run into it.
  void leave_alone(const Error& error, SteadyTime now) {
    close();
    failure_ = error;
    backoff_.failed(now + (std::chrono::steady_clock::now() - asked_at_));
  }

  OpenStore open_;
  std::string name_;
  std::unique_ptr<Store> store_;
  SteadyTime used_at_{};
  SteadyTime asked_at_{};  // by the clock, when it was first opened with used_at_, which a test may invent
  SteadyTime opened_at_{};
  std::optional<Error> failure_;
  Backoff backoff_;
};

}  // namespace keysieve
