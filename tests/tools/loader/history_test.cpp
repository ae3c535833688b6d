// Random histories of a store and two hosts, against an exact model: no key that a host has received is ever
// absent there, and has no value but that of its build, whatever is added, built, pushed, published, rolled
// back, lost or restarted. Property-based: a history that fails is shrunk to a short one.
// RC_PARAMS="max_success=5000" tries more.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <deque>
#include <ostream>
#include <thread>

#include "core/builder/snapshot/builder.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/snapshot/snapshot.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/loader/history/host.hpp"
#include "tests/tools/loader/history/place.hpp"
#include "tools/loader/logging.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/rollback.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve::test {
namespace {

constexpr int kHosts = 2;

// What can happen to a store and to the hosts that follow it.
constexpr int kHistoryKeys = 60;

enum class Action {
  Add,         // to the log; the transaction that it belongs to stays open
  Commit,      // all open transactions
  Import,      // a key that comes into the source without being added to the log
  BeginBuild,  // notes adds_from and reads the source; every other build knows all keys as absent, every
               // third is a map
  FinishBuild,
  Push,  // a whole build
  PublishByHand,
  Look,
  Restart,
  Reboot,
  RollBack,  // to the oldest that is kept
  StoreDown,
  StoreUp,
  Replicate,
  FailOver,  // to the replica: what came after is lost
};

struct Step {
  Action action;
  int number;  // of a key or a host

  friend std::ostream& operator<<(std::ostream& out, const Step& step) {
    constexpr std::array kNames{"Add",      "Commit",        "Import",  "BeginBuild", "FinishBuild",
                                "Push",     "PublishByHand", "Look",    "Restart",    "Reboot",
                                "RollBack", "StoreDown",     "StoreUp", "Replicate",  "FailOver"};
    return out << kNames.at(static_cast<std::size_t>(step.action)) << " " << step.number;
  }
};

rc::Gen<Step> any_step() {
  const auto action = rc::gen::weightedElement<Action>({{12, Action::Add},
                                                        {3, Action::Commit},
                                                        {2, Action::Import},
                                                        {2, Action::BeginBuild},
                                                        {2, Action::FinishBuild},
                                                        {4, Action::Push},
                                                        {1, Action::PublishByHand},
                                                        {12, Action::Look},
                                                        {2, Action::Restart},
                                                        {1, Action::Reboot},
                                                        {2, Action::RollBack},
                                                        {1, Action::StoreDown},
                                                        {3, Action::StoreUp},
                                                        {1, Action::Replicate},
                                                        {1, Action::FailOver}});
  return rc::gen::construct<Step>(action, rc::gen::inRange(0, kHistoryKeys));
}

// A source of keys, a store and two hosts, and an exact model of what each host must answer maybe for.
class World {
 public:
  // With `late_commits` a transaction may stay open while builds begin and end: they reach back for it.
  // Otherwise every add is committed at once, and a build takes over all that the log held when it began.
  World(const std::string& scheme, bool late_commits)
      : late_commits_(late_commits), place_(Place::make(scheme, root_.path())) {
    static_cast<void>(open());  // makes it
    for (int i = 0; i < kHosts; ++i) {
      hosts_.emplace_back(root_ / ("host" + std::to_string(i)), place_->url_of_hosts());
    }
  }

  void take(const Step& step) {
    switch (step.action) {
      case Action::Add:
        return add(step.number);
      case Action::Commit:
        return commit();
      case Action::Import:
        source_.insert(step.number);
        return;
      case Action::BeginBuild:
        return begin_build();
      case Action::FinishBuild:
        return finish_build();
      case Action::Push:
        begin_build();
        return finish_build();
      case Action::PublishByHand:
        return publish_by_hand(host(step.number));
      case Action::Look:
        look(host(step.number));
        return;
      case Action::Restart:
        return host(step.number).start();
      case Action::Reboot:
        return host(step.number).reboot();
      case Action::RollBack:
        return roll_back();
      case Action::StoreDown:
        if (is_up()) place_->take_down();
        return;
      case Action::StoreUp:
        return bring_up();
      case Action::Replicate:
        return replicate();
      case Action::FailOver:
        return fail_over();
    }
  }
  // Every key that a host has received is answered maybe there; by a late process, every key that was added.
  void check() {
    for (Host& host : hosts_) {
      const auto build_id = host.attached_build();
      if (!build_id) continue;  // every answer is maybe
      Keys known = host.received;
      const Keys& base = builds_.at(*build_id).keys;
      known.insert(base.begin(), base.end());
      for (int key = 0; key < kHistoryKeys; ++key) {
        const bool maybe = host.may_contain(key);
        if (known.contains(key)) {
          RC_ASSERT(maybe);
          check_value(host, key, builds_.at(*build_id), Host::Process::AtOnce);
        } else {
          (maybe ? unknown_and_maybe : unknown_and_absent) += 1;
        }
      }
      check_late(host);
    }
  }
  // Once all is well again, every host answers maybe for all that was ever added and not lost.
  void heal_and_check() {
    bring_up();
    commit();
    source_.insert(0);  // an empty set cannot be built
    // A store that has lost adds gets a build that began after all hosts had noticed.
    for (int builds = 0; builds < 3; ++builds) {
      begin_build();
      finish_build();
      for (Host& host : hosts_) look(host);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    for (Host& host : hosts_) {
      const RefreshOutcome& outcome = look(host);
      if (outcome.trouble == Trouble::AddsLost) {
        RC_ASSERT(has_failed_over_ && late_commits_);  // its overlap has not passed yet
        continue;
      }
      RC_ASSERT(outcome.trouble == Trouble::None);
      RC_ASSERT(outcome.live->generation == read_pointer(*open(), kHistorySet)->current->generation);
      for (const int key : source_) RC_ASSERT(host.may_contain(key));
    }
    check();
  }

  static inline std::uint64_t unknown_and_maybe = 0;
  static inline std::uint64_t unknown_and_absent = 0;
  static inline std::uint64_t values_found = 0;
  static inline std::uint64_t absent_for_late =
      0;  // answers of a process that has another build than is current

 private:
  struct Build {
    SnapshotBytes snapshot;
    Keys keys;
    std::uint32_t first_value;  // of a map's keys; no two builds give a key the same
    [[nodiscard]] std::uint32_t value_of(int key) const { return first_value + static_cast<unsigned>(key); }
  };

  [[nodiscard]] std::unique_ptr<Store> open() const { return open_store(place_->url()); }
  [[nodiscard]] bool is_up() const { return place_->is_up(); }
  Host& host(int number) { return hosts_[static_cast<std::size_t>(number) % hosts_.size()]; }

  // What was never added and is only in the new snapshot it need not know.
  void check_late(Host& host) {
    const auto build_id = host.attached_build(Host::Process::Late);
    if (!build_id) return;
    const Build& build = builds_.at(*build_id);
    for (int key = 0; key < kHistoryKeys; ++key) {
      const bool maybe = host.may_contain(key, Host::Process::Late);
      const bool is_known = build.keys.contains(key) || host.received.contains(key);
      RC_ASSERT(maybe || !is_known);
      if (is_known) check_value(host, key, build, Host::Process::Late);
      if (!maybe && build_id != host.attached_build()) ++absent_for_late;
    }
  }
  // What was added since the build is unknown, and so may be what was in it.
  static void check_value(Host& host, int key, const Build& build, Host::Process process) {
    const std::optional<MapAnswer> found = host.find(key, process);
    if (!found || found == kUnknown) return;
    RC_ASSERT(build.keys.contains(key));
    RC_ASSERT(*found == build.value_of(key));
    ++values_found;
  }
  void bring_up() {
    if (!is_up()) place_->bring_up();
  }
  void add(int key) {
    if (!is_up()) return;
    const auto store = open();
    const std::string text = key_text(key);
    if (store->abilities().log)
      logged_[key] = store->append(adds_log(*store, kHistorySet), std::span(&text, 1));
    (late_commits_ ? uncommitted_ : source_).insert(key);
  }
  void commit() {
    source_.insert(uncommitted_.begin(), uncommitted_.end());
    uncommitted_.clear();
  }
  void begin_build() {
    if (!is_up() || source_.empty()) return;
    const auto store = open();
    const auto overlap = late_commits_ ? std::chrono::hours(1) : std::chrono::hours(0);
    BuildSettings settings;
    settings.set_name = kHistorySet;
    settings.seed = {42 + builds_.size()};
    settings.as_of = ++as_of_;
    // As `keysieve build` does, after a failover to a replica that has lost the log too.
    const PointerRecord pointer = read_stored_pointer(*store, kHistorySet).value_or(PointerRecord{});
    settings.adds_from = std::max(adds_from(*store, kHistorySet, unix_now_ms(), overlap),
                                  adds_trimmed_to(*store, kHistorySet, pointer.adds_trimmed_to));
    settings.has_known_absent = builds_.size() % 2 == 1;
    const auto first_value = static_cast<std::uint32_t>(builds_.size() * kHistoryKeys);
    MapValues values(1);
    if (builds_.size() % 3 == 2) {
      settings.kind = find_filter_kind("ribbon");
      settings.values = &values;
      const KeyHasher hasher(settings.seed);
      for (const int key : source_)
        values.add(0, hasher(key_text(key)), first_value + static_cast<unsigned>(key));
      RC_ASSERT(!values.finish());
    }
    SnapshotBuilder builder(settings);
    for (const int key : source_) builder.add(key_text(key));
    // Whoever lists them may have read the source at any time: a key in both lists is a key of the set.
    for (int key = 0; settings.has_known_absent && key < kHistoryKeys; ++key) {
      const std::string text = key_text(key);
      const std::string_view view = text;
      builder.add_known_absent(0, {&view, 1});
    }
    Build build{builder.finish(), source_, first_value};
    const SnapshotView view = SnapshotView::decode(build.snapshot.get(), "history", Check::Tables);
    newest_ = pending_ = view.header().build_id;
    builds_.insert_or_assign(*pending_, std::move(build));
  }
  void finish_build() {
    if (!is_up() || !pending_) return;
    const auto store = open();
    const SnapshotBytes& snapshot = builds_.at(*std::exchange(pending_, std::nullopt)).snapshot;
    try {
      keysieve::push(*store, SnapshotView::decode(snapshot.get(), "history", Check::Tables),
                     Guards{.min_keys = 1, .max_shrink = {}});
    } catch (const Error& error) {  // it was begun before adds were lost
      RC_ASSERT(error.kind() == ErrorKind::Data && has_failed_over_);
    }
  }
  void publish_by_hand(Host& host) {
    if (newest_) host.publish_by_hand(builds_.at(*newest_).snapshot.get());
  }
  const RefreshOutcome& look(Host& host) {
    const RefreshOutcome& outcome = host.look();
    if (outcome.trouble == Trouble::None) receive(host);
    return outcome;
  }
  // What the oldest kept snapshot holds need not be remembered.
  void receive(Host& host) {
    const PointerRecord pointer = *read_pointer(*open(), kHistorySet);
    const LogPosition& adds_from = pointer.current->adds_from;
    for (const auto& [key, position] : logged_) {
      host.received.insert(key);
      if (position > adds_from) host.adds[key] = position;
    }
    const LogPosition forgotten = std::min(adds_from, pointer.adds_trimmed_to);
    std::erase_if(host.adds, [&](const auto& add) { return add.second <= forgotten; });
  }
  void roll_back() {
    if (!is_up()) return;
    const auto store = open();
    const auto pointer = read_pointer(*store, kHistorySet);
    if (!pointer || pointer->previous.empty()) return;
    rollback(*store, kHistorySet, plan_rollback(*store, kHistorySet, pointer->previous.back().generation));
  }
  void replicate() {
    if (is_up() && place_->replicate()) replicated_ = logged_;
  }
  void fail_over() {
    if (!is_up()) return;
    const auto pointer = open()->get(pointer_key(*open(), kHistorySet));
    if (!place_->fail_over()) return;
    has_failed_over_ = true;
    if (open()->get(pointer_key(*open(), kHistorySet)) != pointer) lose_snapshots();
    logged_ = replicated_;
    // No two servers of a failover append in the same millisecond.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  // Keys that a host knows from a snapshot alone go with it, should a rollback lead behind it: its filter
  // cannot be asked for them, and the log has lost them.
  void lose_snapshots() {
    for (Host& host : hosts_) {
      std::erase_if(host.received,
                    [&](int key) { return !replicated_.contains(key) && !host.adds.contains(key); });
    }
  }

  bool late_commits_;
  bool has_failed_over_ = false;
  TemporaryDirectory root_{"/dev/shm"};
  std::unique_ptr<Place> place_;
  std::deque<Host> hosts_;
  Keys source_;
  Keys uncommitted_;
  Log logged_;  // what stands in the store's log, or did until it was trimmed
  Log replicated_;
  std::map<BuildId, Build> builds_;
  std::optional<BuildId> newest_;   // that was begun
  std::optional<BuildId> pending_;  // that was begun and not pushed
  UnixSeconds as_of_ = 1'700'000'000;
};

using Parameters = std::tuple<const char*, bool>;

std::string parameters_name(const ::testing::TestParamInfo<Parameters>& info) {
  return std::string(std::get<0>(info.param)) +
         (std::get<1>(info.param) ? "_late_commits" : "_commits_at_once");
}

class Histories : public ::testing::TestWithParam<Parameters> {};

INSTANTIATE_TEST_SUITE_P(Stores, Histories,
                         ::testing::Combine(::testing::Values("lmdb", "dir", "http", "memcached"),
                                            ::testing::Bool()),
                         parameters_name);

TEST_P(Histories, NoKeyThatAHostHasReceivedIsEverAbsentThere) {
  set_log_level("error");
  const auto& parameters = GetParam();
  const bool holds = rc::check([&parameters] {
    const auto& [scheme, late_commits] = parameters;
    const auto steps = *rc::gen::container<std::vector<Step>>(any_step());
    World world(scheme, late_commits);
    for (const Step& step : steps) {
      world.take(step);
      world.check();
    }
    world.heal_and_check();
  });
  EXPECT_TRUE(holds);
  // It would hold as well if every answer were maybe.
  EXPECT_LT(World::unknown_and_maybe, World::unknown_and_absent / 20);
  EXPECT_GT(World::absent_for_late, 0U);
  EXPECT_GT(World::values_found, 0U);
}

}  // namespace
}  // namespace keysieve::test
