// Calls to stores that suites make again and again.
#pragma once

#include <poll.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/support/forked.hpp"
#include "tests/support/message_of.hpp"
#include "tools/stores/store.hpp"

namespace keysieve::test {

// The adds log of the set "tags", and the position before its first entry.
inline const std::string kLog = "keysieve:tags:adds";
inline constexpr LogPosition kBeforeAll{};

// Why a store cannot be opened with that `if_missing`: the message of the error of that kind; empty when it
// can.
template <ErrorKind Kind>
std::string refusal_to_open(const std::string& url, IfMissing if_missing = IfMissing::Create) {
  return message_of<Kind>([&] { open_store(url, if_missing); });
}

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
  for (const LogEntry& entry : entries) keys.push_back(entry.key);
  return keys;
}
inline std::vector<std::string> keys_in(Store& store, const std::string& log = kLog) {
  return keys_of(store.read_after(log, kBeforeAll, 100'000));
}

inline bool is_readable(const StoreWatch& watch, std::chrono::milliseconds timeout = kDeadline) {
  pollfd waiting{watch.descriptor(), POLLIN, 0};
  return ::poll(&waiting, 1, static_cast<int>(timeout.count())) > 0;
}
// Waits as a loader does: sleeps until the descriptor is readable. Empty when nothing has come.
inline std::vector<std::string> wait(StoreWatch& watch, std::chrono::milliseconds timeout = kDeadline) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() < 0 || !is_readable(watch, left)) return {};
    if (auto names = watch.take(); !names.empty()) return names;
  }
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
