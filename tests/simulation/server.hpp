// The store of a simulation as its server holds it: no faults, and nothing that takes time.
#pragma once

#include <map>

#include "core/builder/base/log_positions.hpp"
#include "core/worker/base/clock.hpp"
#include "tools/stores/store.hpp"

namespace keysieve::test {

struct ServerContents {
  struct Log {
    std::map<LogPosition, LogEntry> entries{};
    LogPosition begun{};
    LogPosition end{};
    std::uint64_t count = 0;
    LogPosition trimmed_to{};
  };
  std::map<std::string, std::string> records{};
  std::map<std::string, Log> logs{};
};

// Behaves as Redis does, or, if it is named so, as a dir: store, whose logs say how far they are trimmed.
class Server : public Store {
 public:
  explicit Server(const std::string& name) : Store(name, "keysieve") {}

  std::optional<std::string> get(const std::string& key) override {
    const auto found = contents.records.find(key);
    return found == contents.records.end() ? std::nullopt : std::optional(found->second);
  }
  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    std::vector<std::optional<std::string>> values;
    for (const std::string& key : keys) values.push_back(get(key));
    return values;
  }
  void put_many(std::span<const Record> records) override {
    for (const Record& record : records) contents.records[record.key] = record.value;
  }
  bool compare_and_set(const Record& record, const std::optional<std::string>& expected) override {
    if (get(record.key) != expected) return false;
    contents.records[record.key] = record.value;
    return true;
  }
  void remove_many(std::span<const std::string> keys) override {
    for (const std::string& key : keys) contents.records.erase(key);
  }
  std::vector<std::string> keys_with_prefix(const std::string& prefix) override {
    std::vector<std::string> keys;
    for (const auto& [key, value] : contents.records) {
      if (key.starts_with(prefix)) keys.push_back(key);
    }
    return keys;
  }
  LogPosition append(const std::string& log, std::span<const std::string> keys) override {
    ServerContents::Log& grown = contents.logs[log];
    for (const std::string& key : keys) {
      move_on(grown);
      grown.entries[grown.end] = {.position = grown.end, .key = key, .ordinal = ++grown.count};
    }
    return grown.end;
  }
  std::vector<LogEntry> read_after(const std::string& log, const LogPosition& after,
                                   std::size_t max_entries) override {
    const auto& [entries, begun, end, count, trimmed_to] = contents.logs[log];
    known_facts(log) = {
        .begun = begun, .end = end, .count = count, .trimmed_to = says_trimmed_ ? trimmed_to : LogPosition{}};
    std::vector<LogEntry> found;
    for (auto at = entries.upper_bound(after); at != entries.end() && found.size() < max_entries; ++at) {
      found.push_back(at->second);
    }
    return found;
  }
  void trim(const std::string& log, const LogPosition& up_to) override {
    ServerContents::Log& trimmed = contents.logs[log];
    const auto kept = trimmed.entries.upper_bound(up_to);
    if (kept != trimmed.entries.begin()) trimmed.trimmed_to = std::prev(kept)->first;
    trimmed.entries.erase(trimmed.entries.begin(), kept);
  }
  void mark(const std::string& log) override { move_on(contents.logs[log]); }

  ServerContents contents;

 private:
  static void move_on(ServerContents::Log& log) {
    log.end = next_log_position(log.end, static_cast<std::uint64_t>(unix_now_ms()));
    if (log.begun == LogPosition{}) log.begun = log.end;
  }

  const bool says_trimmed_ = name().starts_with("dir:");
};

}  // namespace keysieve::test
