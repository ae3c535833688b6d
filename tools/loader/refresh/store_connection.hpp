// One configured store as the loader uses it, for published and seen sets. It is opened when a set first
// asks, and closed after each round and after ten seconds, so that a store that was moved or restarted is
// found again. After an outage it is left alone for a while, so that many sets of one dead store cost one
// timeout.
#pragma once

#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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
  // While it is away, or has lost its watch, its rounds come so often, however seldom it is polled. With
  // their jitter, once in half a minute.
  static constexpr Milliseconds kRoundsWhileAway{25'000};

  StoreConnection(OpenStore open, std::string name, Milliseconds poll_interval)
      : open_(std::move(open)),
        name_(std::move(name)),
        shortest_pause_(std::min(poll_interval, kRoundsWhileAway) / 2) {}
  // The store's URL without password, for messages.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  // Also in the middle of a long work: what the store has answered does not count as waiting for it.
  void answered() {
    outage_.reset();
    now_ += since_asked();
    asked_at_ = SteadyTime::clock::now();
  }

  // Calls `ask` with the open store. While it is left alone after an outage, throws the error it failed with.
  // A store that does not take what is written may still be read, so that an outage of a write closes it, and
  // only appends are put off.
  template <typename Ask>
  auto use(SteadyTime now, const Ask& ask, StoreUse use = StoreUse::Read) {
    if (const auto failure = append_failure(now); failure && use == StoreUse::Append) throw Error(*failure);
    Store& store = open(now);
    try {
      auto answer = ask(store);
      answered();
      return answer;
    } catch (const Error& error) {
      if (error.is_outage() && use == StoreUse::Read) leave_alone(error);
      if (error.is_outage() && use != StoreUse::Read) append_outage_ = outage_by(error);
      throw;
    }
  }

  // What an append throws now without being tried: one has just failed so, and each may run into a timeout.
  [[nodiscard]] std::optional<Error> append_failure(SteadyTime now) const {
    return append_outage_ && now < append_outage_->until ? std::optional(append_outage_->error)
                                                         : std::nullopt;
  }
  void append_again_now() noexcept { append_outage_.reset(); }

  // Asks the store to report changes, unless it is left alone or reports them already. True: it reports them
  // from now on, and the caller must look for earlier ones.
  bool begin_watch(SteadyTime now) {
    if (watch_) return false;
    bool can_watch = false;
    try {
      watch_ = open(now).watch();
      can_watch = watch_ != nullptr;
    } catch (const Error& error) {
      can_watch = error.kind() != ErrorKind::Permission;
      say_unwatched(error);
    }
    watch_due_at_ = can_watch ? now + kRoundsWhileAway : SteadyTime::max();
    return watch_ != nullptr;
  }
  // What StoreWatch::take() says. Does not wait. A watch that fails is gone.
  std::vector<std::string> take_changes() {
    try {
      if (watch_) return watch_->take();
    } catch (const Error& error) {
      watch_.reset();
      say_unwatched(error);
    }
    return {};
  }
  // nullptr: none was begun, it has failed, or the store has; or the store cannot tell.
  [[nodiscard]] const StoreWatch* watch() const noexcept { return watch_.get(); }

  // When another one should be begun. A watch that is lost again and again must not keep us busy.
  [[nodiscard]] SteadyTime watch_due_at() const noexcept {
    return watch_ ? SteadyTime::max() : watch_due_at_;
  }

  void close() noexcept { store_.reset(); }
  // As Store::distrust_copies().
  void distrust_copies() {
    if (store_) store_->distrust_copies();
  }
  // The last use has failed.
  [[nodiscard]] bool is_away() const noexcept { return outage_.has_value(); }
  // Empty: it is not away.
  [[nodiscard]] std::string failure() const { return outage_ ? outage_->error.what() : ""; }
  [[nodiscard]] bool was_asked() const noexcept { return now_ != SteadyTime{}; }
  // The next use tries again, even right after a failure.
  void try_again_now() noexcept {
    if (outage_) outage_->until = {};
    append_again_now();
  }

 private:
  struct Outage {
    Error error;
    SteadyTime until;  // when it is tried again
  };

  static constexpr std::chrono::seconds kKeptOpen{10};  // shorter than servers wait for idle clients

  // Other stores wait while this one runs into its timeout: with the default of 5 s, for less than a third of
  // the time.
  static constexpr int kPausesPerFailure = 20;
  static constexpr Milliseconds kLongestPause = kRoundsWhileAway / 2;

  Store& open(SteadyTime now) {
    if (now > now_) {
      now_ = now;
      asked_at_ = SteadyTime::clock::now();
    }
    if (outage_ && now < outage_->until) throw Error(outage_->error);
    if (now - opened_at_ > kKeptOpen) close();
    if (!store_) {
      try {
        store_ = open_();
      } catch (const Error& error) {
        leave_alone(error);
        throw;
      }
      opened_at_ = now;
    }
    return *store_;
  }
  // Its watch may be dead without notice.
  void leave_alone(const Error& error) {
    watch_.reset();
    outage_ = outage_by(error);
  }
  // Not to its next round, which tries again. From when it has failed: a timeout may be longer than the
  // pause, and each set would run into it.
  Outage outage_by(const Error& error) {
    close();
    const SteadyTime::duration longest = kLongestPause;
    return {error, now_ + since_asked() +
                       std::max(shortest_pause_, std::min(kPausesPerFailure * since_asked(), longest))};
  }
  [[nodiscard]] SteadyTime::duration since_asked() const { return SteadyTime::clock::now() - asked_at_; }
  static void say_unwatched(const Error& error) {
    spdlog::debug("changes cannot be watched for, so the store is polled: {}", error.what());
  }

  OpenStore open_;
  std::string name_;
  std::unique_ptr<Store> store_;
  SteadyTime opened_at_{};
  // When it was asked, or has answered since. A look keeps its `now`, however long it takes, and a test may
  // invent it; here it moves on with the clock.
  SteadyTime now_{};
  SteadyTime asked_at_{};  // by the clock
  SteadyTime::duration shortest_pause_;
  std::optional<Outage> outage_;
  std::optional<Outage> append_outage_;
  std::unique_ptr<StoreWatch> watch_;
  SteadyTime watch_due_at_ = SteadyTime::max();
};

}  // namespace keysieve
