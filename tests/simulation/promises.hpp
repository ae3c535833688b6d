// An exact model of source, builds and adds, which says what each host of a simulation must answer:
// - Keys of the build that answers are maybe, and so is each added key that the host has received.
// - A key has no value but that of the build.
// - The build that answers was current in the store since the last look began, or answered before.
// - Once anything was live, something is, also right after a reboot.
#pragma once

#include <array>
#include <bitset>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/simulation/host.hpp"
#include "tests/simulation/story.hpp"
#include "tools/records/pointer_record.hpp"

namespace keysieve::test {

using Keys = std::set<int>;

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
  Promises(SimulatedTime& time, Network& network, Story& story);

  // A transaction that adds a key begins before its add, and ends with the commit or without.
  void begin_add(int key);
  void end_add(int key, bool is_committed);
  // A key comes into the source without an add.
  void import(int key) { source_.insert(key); }
  [[nodiscard]] const Keys& source() const noexcept { return source_; }

  [[nodiscard]] int next_number() { return ++builds_made_; }
  // It stays where it is.
  const Build& built(Build build);
  // That was last to read the source.
  [[nodiscard]] const Build* newest_build() const { return newest_ ? &builds_.at(*newest_) : nullptr; }
  [[nodiscard]] std::string name_of(const std::optional<BuildId>& id) const;

  // A replica takes over all that the store holds, and later the store's place.
  void replicate();
  bool fail_over();

  void watch(SimulatedHost& host) { hosts_[&host]; }
  void publishes_by_hand(SimulatedHost& host) { hosts_.at(&host).possible.insert(*newest_); }
  void begins_reading(SimulatedHost& host);
  void has_read(SimulatedHost& host);
  void begins_look(SimulatedHost& host);
  void has_looked(SimulatedHost& host, const RefreshOutcome& outcome);
  void has_rebooted(SimulatedHost& host, bool with_disk);
  void has_started(SimulatedHost& host);

  // Throws Broken.
  void check(SimulatedHost& host);
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
    std::map<int, LogPosition> delivered{};  // last
    std::optional<BuildId> live{};
    std::optional<BuildId> saved{};  // surely in the cache
    std::set<BuildId> possible{};    // was current in the store since the last look began
    std::set<BuildId> possible_before{};
    std::set<BuildId> may_be_cached{};  // was current in the store since the last look that was good
    Keys in_log{};                      // when it began
    unsigned server_number = 0;
    bool must_be_live = false;
  };
  struct Replica {
    ServerContents contents;
    std::map<int, LogPosition> logged;
  };

  void has_written();
  void has_written_log();
  void has_written_pointer();
  void check_chunks() const;
  void has_read_log(const Machine& reader, std::span<const LogEntry> entries);
  [[nodiscard]] bool counts(int key, const LogPosition& position) const;
  void check_live(SimulatedHost& host, Host& promised, const std::optional<BuildId>& live);
  void check_answers(const SimulatedHost& host, Host& promised, const Attachment& attached);
  [[noreturn]] static void fail(const SimulatedHost& host, const std::string& what);

  SimulatedTime& time_;
  Network& network_;
  Story& story_;
  std::string log_;
  Keys source_;
  std::map<int, int> open_;  // how many transactions add a key
  Keys committed_;
  Keys given_up_;                           // by any transaction that was not committed
  std::map<int, LogPosition> counts_from_;  // entries of a key up to here are of transactions that gave up
  std::map<int, LogPosition> logged_;       // where each key was added last, trimmed or not
  std::map<BuildId, Build> builds_;
  std::optional<BuildId> newest_;
  int builds_made_ = 0;
  std::string pointer_text_;
  std::optional<PointerRecord> pointer_;
  LogPosition forgotten_{};  // hosts need not keep adds up to here: they are in what the store kept
  std::optional<Replica> replica_;
  std::map<SimulatedHost*, Host> hosts_;
};

}  // namespace keysieve::test
