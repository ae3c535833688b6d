// Stores that let a test step in between transfer and the real store.
#pragma once

#include <functional>

#include "core/worker/base/error.hpp"
#include "tools/stores/store.hpp"

namespace keysieve::test {

class StoreDecorator : public Store {
 public:
  explicit StoreDecorator(Store& inner) : Store(inner.name(), inner.prefix()), inner_(inner) {}

  std::optional<std::string> get(const std::string& key) override { return inner_.get(key); }
  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    return inner_.get_many(keys);
  }
  void put_many(std::span<const Record> records) override { inner_.put_many(records); }
  bool compare_and_set(const Record& record, const std::optional<std::string>& expected) override {
    return inner_.compare_and_set(record, expected);
  }
  void remove_many(std::span<const std::string> keys) override { inner_.remove_many(keys); }
  std::vector<std::string> keys_with_prefix(const std::string& prefix) override {
    return inner_.keys_with_prefix(prefix);
  }
  LogPosition append(const std::string& log, std::span<const std::string> keys) override {
    return inner_.append(log, keys);
  }
  std::vector<LogEntry> read_after(const std::string& log, const LogPosition& after,
                                   std::size_t max_entries) override {
    return inner_.read_after(log, after, max_entries);
  }
  void trim(const std::string& log, const LogPosition& up_to) override { inner_.trim(log, up_to); }
  LogFacts facts_of(const std::string& log) override { return inner_.facts_of(log); }
  void mark(const std::string& log) override { inner_.mark(log); }
  std::vector<std::string> risks(bool to_adds) override { return inner_.risks(to_adds); }
  void distrust_copies() override { inner_.distrust_copies(); }
  std::unique_ptr<StoreWatch> watch() override { return inner_.watch(); }

 protected:
  Store& inner_;
};

// Calls the hooks of a case before or after a step. If a hook throws, the store throws that.
class HookedStore : public StoreDecorator {
 public:
  using StoreDecorator::StoreDecorator;

  std::function<void()> before_get = [] {};
  std::function<void(std::span<const std::string>)> before_get_many = [](auto) {};
  std::function<void(std::span<const Record>)> before_put = [](auto) {};
  std::function<void()> after_put = [] {};
  std::function<void()> before_compare_and_set = [] {};
  std::function<void()> after_compare_and_set = [] {};
  std::function<void()> before_remove = [] {};

  std::optional<std::string> get(const std::string& key) override {
    before_get();
    return inner_.get(key);
  }
  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    before_get_many(keys);
    return inner_.get_many(keys);
  }
  void put_many(std::span<const Record> records) override {
    before_put(records);
    inner_.put_many(records);
    after_put();
  }
  bool compare_and_set(const Record& record, const std::optional<std::string>& expected) override {
    before_compare_and_set();
    const bool is_set = inner_.compare_and_set(record, expected);
    after_compare_and_set();
    return is_set;
  }
  void remove_many(std::span<const std::string> keys) override {
    before_remove();
    inner_.remove_many(keys);
  }
};

[[noreturn]] inline void lose_connection() {
  throw Error(ErrorKind::Unavailable, "connection lost");
}

// Returns a function that calls `event` only the first time.
inline std::function<void()> once(std::function<void()> event) {
  return [event = std::move(event), has_happened = false]() mutable {
    if (!std::exchange(has_happened, true)) event();
  };
}

}  // namespace keysieve::test
