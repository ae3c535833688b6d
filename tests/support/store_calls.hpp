// What suites ask of stores again and again, in one call each.
#pragma once

#include <string>
#include <vector>

#include "tools/stores/store.hpp"

namespace keysieve::test {

// The adds log of the set "tags", and the position before its first entry.
inline const std::string kLog = "keysieve:tags:adds";
inline constexpr LogPosition kBeforeAll{};

inline void put(Store& store, const std::string& key, const std::string& value) {
  const Record record{key, value};
  store.put_many({&record, 1});
}
inline void remove_record(Store& store, const std::string& key) {
  store.remove_many({&key, 1});
}

inline LogPosition append(Store& store, const std::vector<std::string>& keys, const std::string& log = kLog) {
  return store.append(log, keys);
}
inline std::vector<std::string> keys_of(const std::vector<LogEntry>& entries) {
  std::vector<std::string> keys;
  for (const LogEntry& entry : entries) keys.push_back(entry.key.value_or("a notice"));
  return keys;
}
inline std::vector<std::string> keys_in(Store& store, const std::string& log = kLog) {
  return keys_of(store.read_after(log, kBeforeAll, 100'000));
}

inline void arm(StoreWatch& watch, const std::vector<WatchedLog>& logs) {
  watch.arm(logs);
}

inline std::vector<std::string> numbered(const std::string& name, int count) {
  std::vector<std::string> keys;
  for (int i = 0; i < count; ++i) keys.push_back(name + std::to_string(i));
  return keys;
}
inline std::vector<Record> records_of(const std::vector<std::string>& keys, const std::string& value) {
  std::vector<Record> records;
  for (const std::string& key : keys) records.push_back({key, value});
  return records;
}

}  // namespace keysieve::test
