// A store that lets a suite step in between transfer and the real store behind it.
#pragma once

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
  bool put_if_absent(const Record& record) override { return inner_.put_if_absent(record); }
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
  LogPosition end_of(const std::string& log) override { return inner_.end_of(log); }
  void trim(const std::string& log, const LogPosition& up_to) override { inner_.trim(log, up_to); }
  void notify(const std::string& log) override { inner_.notify(log); }
  std::unique_ptr<StoreWatch> watch() override { return inner_.watch(); }

 protected:
  Store& inner_;
};

}  // namespace keysieve::test
