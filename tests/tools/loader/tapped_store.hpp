// A store whose calls are counted, and where a case steps in: what a refresh or a seen set asks of it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tests/support/store_decorator.hpp"

namespace keysieve::test {

// If a hook throws, the store throws that.
struct StoreTap {
  int calls = 0;  // that read
  std::uint64_t entries_appended = 0;
  std::uint64_t bytes_appended = 0;
  std::uint64_t entries_read = 0;
  std::vector<LogPosition> trimmed{};
  std::function<void()> before_records = [] {};
  std::function<void()> before_fetch = [] {};
  std::function<void()> before_log = [] {};
  std::function<void(std::vector<LogEntry>&)> after_log = [](auto&) {};
  std::function<void()> after_append = [] {};
  std::function<bool(const std::string& entry)> loses = [](const auto&) { return false; };
};

class TappedStore : public StoreDecorator {
 public:
  TappedStore(std::unique_ptr<Store> inner, StoreTap& tap)
      : StoreDecorator(*inner), owned_(std::move(inner)), tap_(tap) {}

  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    ++tap_.calls;
    tap_.before_records();
    return inner_.get_many(keys);
  }
  std::vector<std::optional<std::string>> get_immutable(std::span<const std::string> keys) override {
    ++tap_.calls;
    tap_.before_fetch();
    return inner_.get_immutable(keys);
  }
  LogPosition append(const std::string& log, std::span<const std::string> entries) override {
    std::vector<std::string> kept;
    for (const std::string& entry : entries) {
      ++tap_.entries_appended;
      tap_.bytes_appended += entry.size();
      if (!tap_.loses(entry)) kept.push_back(entry);
    }
    const LogPosition end = kept.empty() ? inner_.end_of(log) : inner_.append(log, kept);
    tap_.after_append();
    return end;
  }
  std::vector<LogEntry> read_after(const std::string& log, const LogPosition& after,
                                   std::size_t max_entries) override {
    ++tap_.calls;
    tap_.before_log();
    auto found = inner_.read_after(log, after, max_entries);
    tap_.entries_read += found.size();
    tap_.after_log(found);
    return found;
  }
  void trim(const std::string& log, const LogPosition& up_to) override {
    tap_.trimmed.push_back(up_to);
    inner_.trim(log, up_to);
  }

 private:
  std::unique_ptr<Store> owned_;
  StoreTap& tap_;
};

}  // namespace keysieve::test
