// Random histories of a store and two hosts, against an exact model: no key that a host has received is ever
// absent there, whatever is added, built, pushed, rolled back, lost or restarted. Property-based: a history
// that fails is shrunk to a short one. RC_PARAMS="max_success=5000" tries more.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <deque>
#include <filesystem>
#include <map>
#include <ostream>
#include <set>
#include <thread>

#include "core/base/error.hpp"
#include "core/shm/set_reader.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/loader/logging.hpp"
#include "tools/loader/set_refresher.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/collect_garbage.hpp"
#include "tools/transfer/rollback.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve::test {
namespace {

namespace fs = std::filesystem;

const std::string kSet = "tags";
constexpr int kKeys = 60;
constexpr int kHosts = 2;
constexpr std::uint64_t kSeed = 42;

std::string key_text(int key) {
  return "key-" + std::to_string(key);
}

enum class Action {
  Add,         // to the log; the transaction that it belongs to stays open
  Commit,      // all open transactions
  Import,      // a key that comes into the source without being added to the log
  BeginBuild,  // notes adds_from and reads the source
  FinishBuild,
  Push,  // a whole build
  Look,
  Restart,
  Reboot,
  RollBack,  // to the oldest that is kept
  CollectGarbage,
  StoreDown,
  StoreUp,
  Replicate,
  FailOver,  // to the replica: what came after is lost
};

struct Step {
  Action action;
  int number;  // of a key or a host

  friend std::ostream& operator<<(std::ostream& out, const Step& step) {
    constexpr std::array kNames{"Add",         "Commit",    "Import",         "BeginBuild",
                                "FinishBuild", "Push",      "Look",           "Restart",
                                "Reboot",      "RollBack",  "CollectGarbage", "StoreDown",
                                "StoreUp",     "Replicate", "FailOver"};
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
                                                        {12, Action::Look},
                                                        {2, Action::Restart},
                                                        {1, Action::Reboot},
                                                        {2, Action::RollBack},
                                                        {1, Action::CollectGarbage},
                                                        {1, Action::StoreDown},
                                                        {3, Action::StoreUp},
                                                        {1, Action::Replicate},
                                                        {1, Action::FailOver}});
  return rc::gen::construct<Step>(action, rc::gen::inRange(0, kKeys));
}

using Keys = std::set<int>;
using Log = std::map<int, LogPosition>;  // where each key was added last

struct Build {
  SnapshotBytes snapshot;
  Keys keys;
};

// One host: its loader, and a process that looks keys up.
class Host {
 public:
  Host(const std::string& root, const std::string& store_url) : root_(root), store_url_(store_url) {
    for (const char* folder : {"", "/shm", "/cache"}) fs::create_directory(root_ + folder);
    start();
    begin_reading();
  }

  void start() {
    store_.emplace([this] { return open_store(store_url_, IfMissing::Refuse); }, "the store",
                   Milliseconds(1000));
    LoaderConfig loader;
    loader.directory = root_ + "/shm";
    loader.cache = root_ + "/cache";
    SetConfig set;
    set.name = kSet;
    set.guards.max_shrink = {};
    refresher_.emplace(set, loader, *store_, [] { return true; });
  }

  void reboot() {
    refresher_.reset();
    for (const auto& entry : fs::directory_iterator(root_ + "/shm")) fs::remove_all(entry);
    start();
    begin_reading();
  }

  const SetState& look() {
    now_ += std::chrono::hours(1);  // past every backoff
    const SetState& state = refresher_->refresh(now_);
    store_->close();
    return state;
  }

  // Maybe, where the set is not ready.
  bool may_contain(int key) {
    reader_->check_soon();
    const SetReader::Pin pin = reader_->pin();
    return !pin || pin->may_contain(hash_key(key_text(key), pin->snapshot().seed()));
  }
  // Nothing while no publication is attached.
  std::optional<BuildId> attached_build() {
    reader_->check_soon();
    const SetReader::Pin pin = reader_->pin();
    if (!pin) return std::nullopt;
    return pin->snapshot().header().build_id;
  }

  Keys received;  // by the loader, as adds or in a snapshot
  Log adds;       // of these, what it has to remember by itself

 private:
  void begin_reading() {
    reader_.emplace(
        ReaderSettings{.directory = root_ + "/shm", .trusted_owner = {}, .max_jitter = Milliseconds(0)},
        kSet);
  }

  std::string root_;
  std::string store_url_;
  SteadyTime now_{std::chrono::hours(1)};
  std::optional<StoreConnection> store_;
  std::optional<SetRefresher> refresher_;
  std::optional<SetReader> reader_;
};

class World {
 public:
  // With `late_commits` a transaction may stay open while builds begin and end: they reach back for it.
  // Otherwise every add is committed at once, and a build takes over all that the log held when it began.
  World(const std::string& scheme, bool late_commits) : scheme_(scheme), late_commits_(late_commits) {
    static_cast<void>(open());  // makes it
    for (int i = 0; i < kHosts; ++i) hosts_.emplace_back(root_ / ("host" + std::to_string(i)), url());
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
      case Action::Look:
        look(host(step.number));
        return;
      case Action::Restart:
        return host(step.number).start();
      case Action::Reboot:
        return host(step.number).reboot();
      case Action::RollBack:
        return roll_back();
      case Action::CollectGarbage:
        if (is_up()) collect_garbage(*open());
        return;
      case Action::StoreDown:
        if (is_up()) fs::rename(folder(), folder() + ".away");
        return;
      case Action::StoreUp:
        return bring_up();
      case Action::Replicate:
        return replicate();
      case Action::FailOver:
        return fail_over();
    }
  }

  void check() {
    for (Host& host : hosts_) {
      const auto build_id = host.attached_build();
      if (!build_id) continue;  // every answer is maybe
      Keys known = host.received;
      const Keys& base = builds_.at(*build_id).keys;
      known.insert(base.begin(), base.end());
      for (int key = 0; key < kKeys; ++key) {
        const bool maybe = host.may_contain(key);
        if (known.contains(key)) {
          RC_ASSERT(maybe);
        } else {
          (maybe ? unknown_and_maybe : unknown_and_absent) += 1;
        }
      }
    }
  }

  // Once all is well again, every host answers maybe for all that was ever added and not lost.
  void heal_and_check() {
    bring_up();
    commit();
    source_.insert(0);  // an empty set cannot be built
    begin_build();
    finish_build();
    for (Host& host : hosts_) {
      const SetState& state = look(host);
      RC_ASSERT(state.trouble == Trouble::None);
      RC_ASSERT(state.live->generation == read_pointer(*open(), kSet)->current->generation);
      for (const int key : source_) RC_ASSERT(host.may_contain(key));
    }
    check();
  }

  static inline std::uint64_t unknown_and_maybe = 0;
  static inline std::uint64_t unknown_and_absent = 0;

 private:
  [[nodiscard]] std::string folder() const { return root_ / "store"; }
  [[nodiscard]] std::string url() const { return scheme_ + ":" + folder(); }
  [[nodiscard]] std::unique_ptr<Store> open() const { return open_store(url()); }
  [[nodiscard]] bool is_up() const { return fs::exists(folder()); }
  Host& host(int number) { return hosts_[static_cast<std::size_t>(number) % hosts_.size()]; }

  void bring_up() const {
    if (!is_up()) fs::rename(folder() + ".away", folder());
  }

  void add(int key) {
    if (!is_up()) return;
    const auto store = open();
    const std::string text = key_text(key);
    logged_[key] = store->append(adds_log(*store, kSet), std::span(&text, 1));
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
    settings.set_name = kSet;
    settings.seed = kSeed;
    settings.as_of = ++as_of_;
    settings.adds_from = adds_from(*store, kSet, unix_now_ms(), overlap);
    SnapshotBuilder builder(settings);
    for (const int key : source_) builder.add(key_text(key));
    Build build{builder.finish(), source_};
    const SnapshotView view = SnapshotView::decode(build.snapshot.get(), "history", Check::Tables);
    pending_ = view.header().build_id;
    builds_.insert_or_assign(*pending_, std::move(build));
  }

  void finish_build() {
    if (!is_up() || !pending_) return;
    const auto store = open();
    const SnapshotBytes& snapshot = builds_.at(*pending_).snapshot;
    keysieve::push(*store, SnapshotView::decode(snapshot.get(), "history", Check::Tables),
                   Guards{.min_keys = 1, .max_shrink = {}});
    pending_.reset();
  }

  const SetState& look(Host& host) {
    const SetState& state = host.look();
    if (state.trouble == Trouble::None) receive(host);
    return state;
  }

  // What the oldest kept snapshot holds need not be remembered.
  void receive(Host& host) {
    const PointerRecord pointer = *read_pointer(*open(), kSet);
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
    const auto pointer = read_pointer(*store, kSet);
    if (!pointer || pointer->previous.empty()) return;
    rollback(*store, kSet, plan_rollback(*store, kSet, pointer->previous.back().generation));
  }

  void replicate() {
    if (!is_up()) return;
    fs::remove_all(replica());
    fs::copy(folder(), replica(), fs::copy_options::recursive);
    replicated_ = logged_;
  }

  void fail_over() {
    if (!is_up() || !fs::exists(replica())) return;
    const auto pointer = open()->get(pointer_key(*open(), kSet));
    fs::remove_all(folder());
    fs::copy(replica(), folder(), fs::copy_options::recursive);
    if (open()->get(pointer_key(*open(), kSet)) != pointer) lose_snapshots();
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

  [[nodiscard]] std::string replica() const { return root_ / "replica"; }

  std::string scheme_;
  bool late_commits_;
  TemporaryDirectory root_{"/dev/shm"};
  std::deque<Host> hosts_;
  Keys source_;
  Keys uncommitted_;
  Log logged_;  // what stands in the store's log, or did until it was trimmed
  Log replicated_;
  std::map<BuildId, Build> builds_;
  std::optional<BuildId> pending_;
  UnixSeconds as_of_ = 1'700'000'000;
};

using Parameters = std::tuple<const char*, bool>;

std::string parameters_name(const ::testing::TestParamInfo<Parameters>& info) {
  return std::string(std::get<0>(info.param)) +
         (std::get<1>(info.param) ? "_late_commits" : "_commits_at_once");
}

class Histories : public ::testing::TestWithParam<Parameters> {};

INSTANTIATE_TEST_SUITE_P(Stores, Histories,
                         ::testing::Combine(::testing::Values("lmdb", "dir"), ::testing::Bool()),
                         parameters_name);

TEST_P(Histories, NoKeyThatAHostHasReceivedIsEverAbsentThere) {
  set_log_level("error");
  const auto [scheme, late_commits] = GetParam();
  const bool holds = rc::check([scheme = scheme, late_commits = late_commits] {
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
}

}  // namespace
}  // namespace keysieve::test
