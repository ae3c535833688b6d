// Stores that stop or fail at one chosen step. A step is one call, or one record of a call for many: the
// points at which a network or a process may fail.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "core/worker/base/error.hpp"
#include "tests/support/store_decorator.hpp"

namespace keysieve::test {

class SteppedStore : public StoreDecorator {
 public:
  using StoreDecorator::StoreDecorator;

  std::optional<std::string> get(const std::string& key) override {
    return step([&] { return inner_.get(key); });
  }
  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    return step([&] { return inner_.get_many(keys); });
  }
  void put_many(std::span<const Record> records) override {
    for (const Record& record : records) step([&] { inner_.put_many({&record, 1}); });
  }
  bool compare_and_set(const Record& record, const std::optional<std::string>& expected) override {
    return answer(step([&] { return inner_.compare_and_set(record, expected); }));
  }
  void remove_many(std::span<const std::string> keys) override {
    for (const std::string& key : keys) step([&] { inner_.remove_many({&key, 1}); });
  }
  std::vector<std::string> keys_with_prefix(const std::string& prefix) override {
    return step([&] { return inner_.keys_with_prefix(prefix); });
  }
  void trim(const std::string& log, const LogPosition& up_to) override {
    step([&] { inner_.trim(log, up_to); });
  }
  void mark(const std::string& log) override {
    step([&] { inner_.mark(log); });
  }

 protected:
  virtual void before_step() {}
  virtual void after_step() {}
  // Decides what a compare-and-set returns.
  virtual bool answer(bool truth) { return truth; }

 private:
  template <typename Call>
  std::invoke_result_t<Call> step(const Call& call) {
    before_step();
    if constexpr (std::is_void_v<std::invoke_result_t<Call>>) {
      call();
      after_step();
    } else {
      auto result = call();
      after_step();
      return result;
    }
  }
};

// The process is gone, so nothing in it may clean up. Hence no Error, which the code under test would
// handle.
struct Crash {};

enum class Fault { CrashBefore, CrashAfter, NotReached, AnswerLost, FalseThoughDone };

class FaultyStore : public SteppedStore {
 public:
  // `at`: number of the step, from 1; only compare-and-sets are counted for FalseThoughDone.
  FaultyStore(Store& inner, Fault fault, int at) : SteppedStore(inner), fault_(fault), at_(at) {}

  [[nodiscard]] bool has_failed() const { return has_failed_; }

 private:
  void before_step() override {
    if (fault_ == Fault::FalseThoughDone || ++steps_ != at_) return;
    if (fault_ == Fault::CrashBefore) fail(Crash{});
    if (fault_ == Fault::NotReached) fail(Error(ErrorKind::Unavailable, "connection lost"));
  }
  void after_step() override {
    if (fault_ == Fault::FalseThoughDone || steps_ != at_) return;
    if (fault_ == Fault::CrashAfter) fail(Crash{});
    if (fault_ == Fault::AnswerLost) fail(Error(ErrorKind::Unavailable, "answer lost"));
  }
  bool answer(bool truth) override {
    if (fault_ != Fault::FalseThoughDone || ++steps_ != at_) return truth;
    has_failed_ = true;
    return false;
  }

  template <typename Exception>
  [[noreturn]] void fail(const Exception& exception) {
    has_failed_ = true;
    throw exception;
  }

  Fault fault_;
  int at_;
  int steps_ = 0;
  bool has_failed_ = false;
};

// Lets others run while it waits before one step.
class StoppedStore : public SteppedStore {
 public:
  // `at`: number of the step, from 1.
  StoppedStore(Store& inner, int at, std::function<void()> meanwhile)
      : SteppedStore(inner), at_(at), meanwhile_(std::move(meanwhile)) {}

  [[nodiscard]] bool has_stopped() const { return steps_ >= at_; }

 private:
  void before_step() override {
    if (++steps_ == at_) meanwhile_();
  }

  int at_;
  std::function<void()> meanwhile_;
  int steps_ = 0;
};

}  // namespace keysieve::test
