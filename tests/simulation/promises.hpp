// An exact model of source, builds and adds, which says what each host around one store must answer. It
// serves simulations, and histories that are written down (tests/tools/loader/refresh/histories_test.cpp):
// - Keys of the build that answers are maybe, and so is each added key that the host has received.
// - A key has no value but that of the build.
// - The build that answers was current in the store since the last look began, or answered before.
// - Once anything was live, something is, also right after a reboot.
#pragma once

#include <array>
#include <bitset>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/builder/snapshot/builder.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/shm/attachment.hpp"
#include "tools/loader/report/refresh_outcome.hpp"
#include "tools/records/pointer_record.hpp"
#include "tools/stores/store.hpp"

namespace keysieve::test {

inline const std::string kSimulatedSet = "tags";

// Thrown when a promise is broken. No std::exception, so that nothing but a test catches it.
struct Broken {
  std::string what;
};

// What is promised of a host is seen by a process that looks keys up there.
class PromisedHost {
 public:
  explicit PromisedHost(std::string name) : name_(std::move(name)) {}
  virtual ~PromisedHost() = default;
  PromisedHost(const PromisedHost&) = delete;
  PromisedHost& operator=(const PromisedHost&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  // nullptr while every answer is maybe.
  virtual const Attachment* attached() = 0;
  // Because the store has lost adds.
  [[nodiscard]] virtual bool answers_maybe() const = 0;

 private:
  std::string name_;
};

using Keys = std::set<int>;
// Where each key was added last.
using Logged = std::map<int, LogPosition>;

inline constexpr int kSimulatedKeys = 40;

inline std::string key_text(int key) {
  return "key-" + std::to_string(key);
}

// The value of a map's key. No two builds give a key the same.
inline std::uint32_t value_in(int build, int key) {
  return static_cast<std::uint32_t>(build * kSimulatedKeys + key);
}

using KeyBits = std::bitset<kSimulatedKeys>;

struct Build {
  int number;
  KeyBits keys;
  bool is_map;
  SnapshotBytes snapshot;
  std::array<KeyHash, kSimulatedKeys> hashes;
};

class Promises {
 public:
  // The store as its server holds it, which is asked without faults. `tell` is told what becomes current.
  Promises(Store& store, std::function<void(std::string)> tell);

  // A transaction that adds a key begins before its add, and ends with the commit or without.
  void begin_add(int key);
  void end_add(int key, bool is_committed);
  // A key comes into the source, or leaves it, without an add.
  void import(int key) { source_.insert(key); }
  void drop(int key) { source_.erase(key); }
  [[nodiscard]] const Keys& source() const noexcept { return source_; }

  // Builds these keys as a set, a map, or with known-absent keys, by turns. Its place stays the same.
  const Build& build(const Keys& keys, const LogPosition& adds_from, UnixSeconds as_of);
  // That was last to read the source.
  [[nodiscard]] const Build* newest_build() const { return newest_ ? &builds_.at(*newest_) : nullptr; }
  [[nodiscard]] std::string name_of(const std::optional<BuildId>& id) const;

  // Whenever a call may have changed the store, or a host has read its log.
  void has_written();
  void has_read_log(PromisedHost& reader, std::span<const LogEntry> entries);
  // Another server has taken the store's place, or other contents, in which keys were logged so.
  void store_was_replaced(Logged logged);
  [[nodiscard]] const Logged& logged() const noexcept { return logged_; }

  void watch(PromisedHost& host) { hosts_[&host]; }
  void publishes_by_hand(PromisedHost& host) { hosts_.at(&host).possible.insert(*newest_); }
  void begins_reading(PromisedHost& host);
  void has_read(PromisedHost& host);
  void begins_look(PromisedHost& host);
  void has_looked(PromisedHost& host, const RefreshOutcome& outcome);
  void has_rebooted(PromisedHost& host, bool with_disk);
  void has_started(PromisedHost& host);

  // Throws Broken.
  void check(PromisedHost& host);
  [[nodiscard]] const std::optional<PointerRecord>& pointer() const noexcept { return pointer_; }

  // They would hold as well if every answer were maybe.
  struct Answers {
    std::uint64_t lookups = 0;
    std::uint64_t unknown_and_maybe = 0;
    std::uint64_t unknown_and_absent = 0;
    std::uint64_t values = 0;
  } answers;

 private:
  struct Host {
    KeyBits received{};
    Logged delivered{};  // last
    std::optional<BuildId> live{};
    std::optional<BuildId> saved{};  // surely in the cache
    std::set<BuildId> possible{};    // was current in the store since the last look began
    std::set<BuildId> possible_before{};
    std::set<BuildId> may_be_cached{};  // was current in the store since the last look that was good
    Keys in_log{};                      // when it began
    unsigned server_number = 0;
    bool must_be_live = false;
  };

  void has_written_log();
  void has_written_pointer();
  void check_chunks() const;
  [[nodiscard]] bool counts(int key, const LogPosition& position) const;
  void check_live(PromisedHost& host, Host& promised, const std::optional<BuildId>& live);
  void check_answers(const PromisedHost& host, Host& promised, const Attachment& attached);
  [[noreturn]] static void fail(const PromisedHost& host, const std::string& what);

  Store& store_;
  std::function<void(std::string)> tell_;
  std::string log_;
  Keys source_;
  std::map<int, int> open_;  // how many transactions add a key
  Keys committed_;
  Keys given_up_;       // by any transaction that was not committed
  Logged counts_from_;  // entries of a key up to here are of transactions that gave up
  Logged logged_;       // trimmed or not
  LogPosition logged_to_{};
  std::map<BuildId, Build> builds_;
  std::optional<BuildId> newest_;
  int builds_made_ = 0;
  std::string pointer_text_;
  std::optional<PointerRecord> pointer_;
  LogPosition forgotten_{};  // hosts need not keep adds up to here: they are in what the store kept
  unsigned server_number_ = 0;
  std::map<PromisedHost*, Host> hosts_;
};

}  // namespace keysieve::test
