#include "tests/tools/loader/history/world.hpp"

#include <thread>

#include "core/builder/snapshot/builder.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/garbage.hpp"
#include "tools/transfer/rollback.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve::test {

namespace {

constexpr int kHosts = 2;

}  // namespace

World::World(const std::string& scheme, bool late_commits)
    : late_commits_(late_commits), place_(Place::make(scheme, root_.path())) {
  static_cast<void>(open());  // makes it
  for (int i = 0; i < kHosts; ++i) {
    hosts_.emplace_back(root_ / ("host" + std::to_string(i)), place_->url_of_hosts());
  }
}

void World::take(const Step& step) {
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
    case Action::CollectGarbage:
      if (is_up() && open()->abilities().list) collect_garbage(*open());
      return;
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

void World::check() {
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
      } else {
        (maybe ? unknown_and_maybe : unknown_and_absent) += 1;
      }
    }
    check_late(host);
  }
}

// What was never added and is only in the new snapshot it need not know.
void World::check_late(Host& host) {
  const auto build_id = host.attached_build(Host::Process::Late);
  if (!build_id) return;
  const Keys& base = builds_.at(*build_id).keys;
  for (int key = 0; key < kHistoryKeys; ++key) {
    const bool maybe = host.may_contain(key, Host::Process::Late);
    RC_ASSERT(maybe || !(base.contains(key) || host.received.contains(key)));
    if (!maybe && build_id != host.attached_build()) ++absent_for_late;
  }
}

void World::heal_and_check() {
  bring_up();
  commit();
  source_.insert(0);  // an empty set cannot be built
  begin_build();
  finish_build();
  for (Host& host : hosts_) {
    const RefreshOutcome& outcome = look(host);
    RC_ASSERT(outcome.trouble == Trouble::None);
    RC_ASSERT(outcome.live->generation == read_pointer(*open(), kHistorySet)->current->generation);
    for (const int key : source_) RC_ASSERT(host.may_contain(key));
  }
  check();
}

void World::bring_up() {
  if (!is_up()) place_->bring_up();
}

void World::add(int key) {
  if (!is_up()) return;
  const auto store = open();
  const std::string text = key_text(key);
  if (store->abilities().log)
    logged_[key] = store->append(adds_log(*store, kHistorySet), std::span(&text, 1));
  (late_commits_ ? uncommitted_ : source_).insert(key);
}

void World::commit() {
  source_.insert(uncommitted_.begin(), uncommitted_.end());
  uncommitted_.clear();
}

void World::begin_build() {
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
  SnapshotBuilder builder(settings);
  for (const int key : source_) builder.add(key_text(key));
  // Whoever lists them may have read the source at any time: a key in both lists is a key of the set.
  for (int key = 0; settings.has_known_absent && key < kHistoryKeys; ++key) {
    const std::string text = key_text(key);
    const std::string_view view = text;
    builder.add_known_absent(0, {&view, 1});
  }
  Build build{builder.finish(), source_};
  const SnapshotView view = SnapshotView::decode(build.snapshot.get(), "history", Check::Tables);
  newest_ = pending_ = view.header().build_id;
  builds_.insert_or_assign(*pending_, std::move(build));
}

void World::finish_build() {
  if (!is_up() || !pending_) return;
  const auto store = open();
  const SnapshotBytes& snapshot = builds_.at(*pending_).snapshot;
  keysieve::push(*store, SnapshotView::decode(snapshot.get(), "history", Check::Tables),
                 Guards{.min_keys = 1, .max_shrink = {}});
  pending_.reset();
}

void World::publish_by_hand(Host& host) {
  if (newest_) host.publish_by_hand(builds_.at(*newest_).snapshot.get());
}

const RefreshOutcome& World::look(Host& host) {
  const RefreshOutcome& outcome = host.look();
  if (outcome.trouble == Trouble::None) receive(host);
  return outcome;
}

// What the oldest kept snapshot holds need not be remembered.
void World::receive(Host& host) {
  const PointerRecord pointer = *read_pointer(*open(), kHistorySet);
  const LogPosition& adds_from = pointer.current->adds_from;
  for (const auto& [key, position] : logged_) {
    host.received.insert(key);
    if (position > adds_from) host.adds[key] = position;
  }
  const LogPosition forgotten = std::min(adds_from, pointer.adds_trimmed_to);
  std::erase_if(host.adds, [&](const auto& add) { return add.second <= forgotten; });
}

void World::roll_back() {
  if (!is_up()) return;
  const auto store = open();
  const auto pointer = read_pointer(*store, kHistorySet);
  if (!pointer || pointer->previous.empty()) return;
  rollback(*store, kHistorySet, plan_rollback(*store, kHistorySet, pointer->previous.back().generation));
}

void World::replicate() {
  if (is_up() && place_->replicate()) replicated_ = logged_;
}

void World::fail_over() {
  if (!is_up()) return;
  const auto pointer = open()->get(pointer_key(*open(), kHistorySet));
  if (!place_->fail_over()) return;
  if (open()->get(pointer_key(*open(), kHistorySet)) != pointer) lose_snapshots();
  logged_ = replicated_;
  // No two servers of a failover append in the same millisecond.
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

// Keys that a host knows from a snapshot alone go with it, should a rollback lead behind it: its filter
// cannot be asked for them, and the log has lost them.
void World::lose_snapshots() {
  for (Host& host : hosts_) {
    std::erase_if(host.received,
                  [&](int key) { return !replicated_.contains(key) && !host.adds.contains(key); });
  }
}

}  // namespace keysieve::test
