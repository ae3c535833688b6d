// A store carries records, which are small values under text keys, and logs, to which keys are appended.
// Transfer (push, pull, seed, adds) needs nothing else. Each store has one file, and a declaration and a line
// in store.cpp (kSchemes).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/builder/base/log_positions.hpp"

namespace keysieve {

// Abilities of a store besides reading records, and those that a command needs. One table in store.cpp has
// those of every scheme, and commands consult it before they read anything.
struct StoreAbilities {
  bool write = false;
  bool compare_and_set = false;
  bool list = false;     // keys_with_prefix()
  bool log = false;      // append() and what belongs to it: adds
  bool watch = false;    // watch() is not nullptr
  bool durable = false;  // what was written stays, unless the whole store is lost

  friend bool operator==(const StoreAbilities&, const StoreAbilities&) = default;
};

enum class StoreUse {
  Read,    // records, and logs if the store has any
  Write,   // records
  Append,  // to logs
  Bypass,  // records of bypasses, which must not be forgotten
  Keep,    // records that cannot be made again
  List,    // names of records
};

// Those of a store, by its URL or its name. Throws Usage for an unknown scheme.
const StoreAbilities& abilities_of(std::string_view url);

// Throws Usage "<URL without password>: <reason>" if the store cannot do that. Opens nothing.
void check_store_can(StoreUse use, const std::string& url);

// How often keysieved asks such a store if the configuration does not say.
std::chrono::milliseconds default_poll_interval(std::string_view url);

struct Record {
  std::string key;
  std::string value;
};

// A key at one position of a log.
struct LogEntry {
  LogPosition position{};
  std::string key;
  // The key's number among all keys ever appended to the log, from 1. 0: another client has appended it in
  // its own way, so its loss may go unnoticed.
  std::uint64_t ordinal = 0;

  friend bool operator==(const LogEntry&, const LogEntry&) = default;
};

// What a log says of itself. Keys are appended in one atomic step with their ordinals, so a log that is gone,
// was replaced, or has lost entries does not look like the one before.
struct LogFacts {
  LogPosition begun{};      // when it was begun, which no other log shares; all zero: there is none
  LogPosition end{};        // the last position given out
  std::uint64_t count = 0;  // of all keys ever appended, the ordinal of the last one
  // A file may have been copied or sent without the records next to it.
  LogPosition trimmed_to{};  // entries up to here were removed; all zero: none were
  bool is_cut = false;       // it ends in the middle of an entry, and no writer is at work that would end it
  // The field of an entry among those just read that holds no key, which another client has written: for
  // messages.
  std::string unknown_field{};
};

// What an lmdb: or dir: store does if its folder is missing; Redis has nothing to create. A reader must
// refuse: a mistyped or unmounted folder would look like an empty store.
enum class IfMissing {
  Refuse,
  Create,  // if its parent is there
};

// Whether a store waits for a failover. A thread that follows several stores must not wait, but try again
// later.
enum class Patience {
  OfUrl,  // `?failover=`
  None,
};

// The next writer removes unfinished files of others that are this old. Generous, since a slow writer may
// still be at work.
inline constexpr std::chrono::hours kAbandonedAfter{24};

inline constexpr std::size_t kMaxRecordKeyBytes = 200;
inline constexpr std::size_t kMaxValueBytes = std::size_t{64} * 1024;
// Limit of a key in a log: longer keys can be built into a set, but not added.
inline constexpr std::size_t kMaxLoggedKeyBytes = std::size_t{1} << 20;

// Tells, without polling, that a record of a store has changed or that a log has grown. The hint may come too
// often and, over a network, too late or not at all: to miss nothing, look once when the watch was made, and
// then also at intervals. One thread. Throws as a Store does; after that the watch is useless.
class StoreWatch {
 public:
  virtual ~StoreWatch() = default;

  // Becomes readable when there is something to take.
  [[nodiscard]] virtual int descriptor() const = 0;
  // What has changed since the last call: the names of records and logs, but for chunks; an empty text stands
  // for any. Returns at once: nothing when nothing has come.
  virtual std::vector<std::string> take() = 0;
};
// Whether such a change may be one of that set, seen or published. One of no set concerns all.
bool may_concern(std::string_view changed, std::string_view set_name);

// One connection; one thread. Keys are at most kMaxRecordKeyBytes of [A-Za-z0-9:_.-], values at most
// kMaxValueBytes. Every call throws Unavailable when the store cannot be reached or does not answer in
// time; the next call tries again. It throws Login when user or password are wrong or cannot be read,
// Permission when access is denied, CannotCreate when the store is full, Data when the content is not a
// store's. Messages name the store and the reason.
//
// A store that lacks an ability (StoreAbilities) inherits what is here: what would change it throws
// Usage, and its logs are empty.
class Store {
 public:
  virtual ~Store() = default;

  virtual std::optional<std::string> get(const std::string& key) {
    return std::move(get_many(std::span(&key, 1)).front());
  }
  // values[i] belongs to keys[i]. Pipelined where the store can; reads are consistent per key, not across
  // keys.
  virtual std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) = 0;
  // Like get_many(), for records that never change, such as chunks: a cache on the way may answer.
  virtual std::vector<std::optional<std::string>> get_immutable(std::span<const std::string> keys) {
    return get_many(keys);
  }
  // Pipelined. Durable, as far as the store is, when it returns. After an exception any part may be there.
  virtual void put_many(std::span<const Record> /*records*/) { refuse_use(StoreUse::Write); }
  // Changes nothing and returns false when the key is there already.
  bool put_if_absent(const Record& record) { return compare_and_set(record, std::nullopt); }
  // Replaces the value only if it is `expected` (nullopt: absent); otherwise changes nothing and returns
  // false. Atomic among all clients. A store that retries after a failover may return false, here and in
  // put_if_absent, because the first try succeeded and only its answer was lost.
  virtual bool compare_and_set(const Record& /*record*/, const std::optional<std::string>& /*expected*/) {
    refuse_use(StoreUse::Write);
  }
  // Missing keys are passed over.
  virtual void remove_many(std::span<const std::string> /*keys*/) { refuse_use(StoreUse::Write); }
  // The keys of all records, not of logs, that begin with `prefix`, which has only characters of keys, in any
  // order. A record that is put or removed meanwhile may be among them or not. Reads all names in the store.
  virtual std::vector<std::string> keys_with_prefix(const std::string& /*prefix*/) {
    refuse_use(StoreUse::List);
  }

  // Appends the keys in order; returns the position of the last one (without keys: the end). Positions only
  // rise among all clients. As durable as a put. `log` is named like a record, but is none. Throws Usage for
  // a key that is too long.
  virtual LogPosition append(const std::string& /*log*/, std::span<const std::string> /*keys*/) {
    refuse_use(StoreUse::Append);
  }
  // The entries behind `after`, oldest first, at most `max_entries` (from 1); trimmed ones are passed over.
  virtual std::vector<LogEntry> read_after(const std::string& /*log*/, const LogPosition& /*after*/,
                                           std::size_t /*max_entries*/) {
    return {};
  }
  // The last position given out, trimmed or not; all zero for a log that was never begun. If it falls, the
  // store has lost entries.
  LogPosition end_of(const std::string& log);
  // Removes the entries up to and including `up_to`.
  virtual void trim(const std::string& /*log*/, const LogPosition& /*up_to*/) {}
  // The log's facts, from the last read_after() of this connection; reads the log if there was none. That has
  // returned no entry behind `end`. Only a store of files, which may be copied one by one, knows `trimmed_to`
  // and `is_cut`.
  virtual LogFacts facts_of(const std::string& log);
  // Begins the log if there is none, and moves its end to now.
  virtual void mark(const std::string& /*log*/) { refuse_use(StoreUse::Append); }
  // Something that was read is wrong or missing. A store that answers from copies reads all again at the next
  // look.
  virtual void distrust_copies() {}
  // nullptr if the store cannot tell: poll instead. Independent of this connection. From now on it hears of
  // every change, by any client.
  virtual std::unique_ptr<StoreWatch> watch() { return nullptr; }

  // What the server's settings may lose, a sentence each; none where the server does not say. `to_adds`: also
  // what only added keys may suffer. Throws as a read does.
  virtual std::vector<std::string> risks(bool /*to_adds*/) { return {}; }

  // The URL without password and query: for messages.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const StoreAbilities& abilities() const { return abilities_of(name_); }
  // First part of every key; `?prefix=`, default "keysieve".
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }

 protected:
  Store(std::string name, std::string prefix) : name_(std::move(name)), prefix_(std::move(prefix)) {}

  // Every read_after() sets this, for facts_of().
  LogFacts& known_facts(const std::string& log) { return facts_[log]; }

  // Every store calls this before it appends. Throws Usage for a key that is too long for a log.
  void check_logged(const std::string& log, std::span<const std::string> keys) const;

 private:
  [[noreturn]] void refuse_use(StoreUse use) const;

  std::string name_;
  std::string prefix_;
  std::map<std::string, LogFacts> facts_;
};

// The beginnings of store URLs, "lmdb:, dir:, ... or ...:", for help and messages; docs/stores.md has their
// forms and options.
std::string store_schemes();

// Opens one store again and again: what one connection has learned serves the next.
// The opener, and what it opens, belong to one thread.
using StoreOpener = std::function<std::unique_ptr<Store>(IfMissing if_missing, Patience patience)>;
// Throws Usage as open_store() does.
StoreOpener opener_of(const std::string& url);

// A Redis password that is not in the URL comes from ?password_file= or else from the environment's
// KEYSIEVE_REDIS_PASSWORD.
// Opens and connects. Throws Usage for an unknown URL, Unavailable if the store is missing and was not
// created, and otherwise as a Store does.
inline std::unique_ptr<Store> open_store(const std::string& url, IfMissing if_missing = IfMissing::Create,
                                         Patience patience = Patience::OfUrl) {
  return opener_of(url)(if_missing, patience);
}

// Returns the URL of a store of this host with an absolute path: "lmdb:store" and "dir:store" are in the
// working directory. Any other URL is returned as it is.
std::string absolute_store_url(const std::string& url);

// Throws Usage for a URL that open_store() would not understand either. Opens and reads nothing: it does
// not check that the store, a password or a certificate is there.
inline void check_store_url(const std::string& url) {
  static_cast<void>(opener_of(url));
}

// Whether this user, by opening the store, would leave a file that its owner cannot open: LMDB makes its lock
// file with the rights of the first user that opens the store.
bool would_keep_owner_out(const std::string& url);

// Whether the text looks like a store's URL and not like a file's path: it begins with a known scheme and a
// colon.
bool is_store_url(std::string_view text) noexcept;

}  // namespace keysieve
