// A store carries records, which are small values under text keys, and logs, to which keys are appended. This
// is all that transfer (push, pull, seed, adds) asks of one. One file per store, one line each in
// CMakeLists.txt and in open_store().
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/log_position.hpp"

namespace keysieve {

struct Record {
  std::string key;
  std::string value;
};

// What stands at one position of a log.
struct LogEntry {
  LogPosition position{};
  std::optional<std::string> key;  // nothing: a notice, which only wakes those who watch
  // Of an entry that somebody else has written and that is neither: what it has instead, for messages.
  std::optional<std::string> unknown_field{};

  friend bool operator==(const LogEntry&, const LogEntry&) = default;
};

// What a lmdb: or dir: store does whose folder is not there; Redis has nothing to create. Who only reads must
// refuse: a folder that was mistyped or unmounted would look like an empty store.
enum class IfMissing {
  Refuse,
  Create,  // if its parent is there
};

// Whether a store waits for a failover. Who follows several stores in one thread must not, but come again.
enum class Patience {
  OfUrl,  // `?failover=`
  None,
};

// What a writer left unfinished is removed after that long by the next one: generous, since one that is slow
// may still be at work.
inline constexpr std::chrono::hours kAbandonedAfter{24};

inline constexpr std::size_t kMaxRecordKeyBytes = 200;
inline constexpr std::size_t kMaxValueBytes = std::size_t{64} * 1024;
// Of a key in a log: longer ones can be built into a set, but not be added.
inline constexpr std::size_t kMaxLoggedKeyBytes = std::size_t{1} << 20;

struct WatchedLog {
  std::string name;
  LogPosition seen{};  // what stands up to here is known
};

// Tells, without polling, that a log of a store has grown or that a record may have changed. A hint that may
// come too often and, over a network, too late: to miss nothing, look at intervals as well. One thread.
// Throws as a Store does; a watch that has thrown is of no use any more.
class StoreWatch {
 public:
  virtual ~StoreWatch() = default;

  // Begins to wait for anything behind what was seen. To be called again after each take(), with what was
  // seen by then. Does not wait.
  virtual void arm(std::span<const WatchedLog> logs) = 0;
  // One of them becomes readable when there is something to take.
  [[nodiscard]] virtual std::vector<int> descriptors() const = 0;
  // The names, of those armed, that may have something new. Does not wait: empty when nothing has come.
  virtual std::vector<std::string> take() = 0;
};

// One connection; one thread. Keys are at most kMaxRecordKeyBytes of [A-Za-z0-9:_.-], values at most
// kMaxValueBytes. Every call throws Unavailable when the store cannot be reached or does not answer in
// time (the next call tries again), Login when user or password are wrong or cannot be read,
// Permission when it does not let us do this, CannotCreate when it is full, Data when what
// lies there is not a store's. Messages name the store and the reason.
class Store {
 public:
  virtual ~Store() = default;

  virtual std::optional<std::string> get(const std::string& key) = 0;
  // values[i] belongs to keys[i]. Pipelined where the store can; reads are consistent per key, not across
  // keys.
  virtual std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) = 0;
  // Pipelined. Durable, as far as the store is, when it returns. After an exception any part may be there.
  virtual void put_many(std::span<const Record> records) = 0;
  // False, and nothing changed, when the key is there already.
  virtual bool put_if_absent(const Record& record) { return compare_and_set(record, std::nullopt); }
  // Replaces the value only if it is `expected` (nullopt: absent); false, and nothing changed, otherwise.
  // Atomic among all clients. A store that tries again after a failover may answer false, here and to
  // put_if_absent, because it was done the first time and only the answer was lost.
  virtual bool compare_and_set(const Record& record, const std::optional<std::string>& expected) = 0;
  // Keys that are not there are passed over.
  virtual void remove_many(std::span<const std::string> keys) = 0;
  // The keys of all records, not of logs, that begin with `prefix`, in any order. What is put or removed
  // meanwhile may be among them or not. Reads the names of all that the store holds.
  virtual std::vector<std::string> keys_with_prefix(const std::string& prefix) = 0;

  // Appends at the end, in order; returns the position of the last (of no keys: the end). Positions only rise
  // among all clients. Durable as a put is. `log` is named as a record is, but is none. Usage, here and
  // below, for a name or a key that cannot be.
  virtual LogPosition append(const std::string& log, std::span<const std::string> keys) = 0;
  // The entries behind `after`, oldest first, `max_entries` (from 1) at most; what was trimmed is passed
  // over.
  virtual std::vector<LogEntry> read_after(const std::string& log, const LogPosition& after,
                                           std::size_t max_entries) = 0;
  // The last position that was ever given out, trimmed or not; all zero for a log that was never appended to.
  // One that falls tells that the store has lost entries.
  virtual LogPosition end_of(const std::string& log) = 0;
  // Removes the entries up to `up_to` and itself.
  virtual void trim(const std::string& log, const LogPosition& up_to) = 0;
  // Wakes those who watch the log, where the store does not do so by itself when a record changes.
  virtual void notify(const std::string& log) = 0;
  // nullptr where the store has no way to tell: poll. Independent of this connection.
  virtual std::unique_ptr<StoreWatch> watch() = 0;

  // The URL without password and query: for messages.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // First part of every key; `?prefix=`, default "keysieve".
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }

 protected:
  Store(std::string name, std::string prefix) : name_(std::move(name)), prefix_(std::move(prefix)) {}

  // Every store asks these first: throw Usage for what cannot name a log, or is too long for one.
  void check_log(const std::string& log) const;
  void check_logged(const std::string& log, std::span<const std::string> keys) const;

 private:
  std::string name_;
  std::string prefix_;
};

// What the URLs of stores begin with, "lmdb:, dir:, ... or ...:", for help and messages; docs/stores.md
// has their forms and options.
std::string store_schemes();

// A Redis password that is not in the URL comes from ?password_file= or else from the environment's
// KEYSIEVE_REDIS_PASSWORD.
// Connects. Throws Usage for a URL that is not understood, and as a Store does: Unavailable too for
// what is missing, unless it could be created.
std::unique_ptr<Store> open_store(const std::string& url, IfMissing if_missing = IfMissing::Create,
                                  Patience patience = Patience::OfUrl);

// The same URL with an absolute path: "lmdb:store" and "dir:store" are in the working directory. Any other is
// returned as it is.
std::string absolute_store_url(const std::string& url);

// Throws Usage for a URL that open_store() would not understand either. Opens and reads nothing: whether
// the store, a password or a certificate is there is not known afterwards.
void check_store_url(const std::string& url);

// Whether the text looks like a store's URL and not like a file's path: it begins with a known scheme and a
// colon.
bool is_store_url(std::string_view text) noexcept;

}  // namespace keysieve
