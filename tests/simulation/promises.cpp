#include "tests/simulation/promises.hpp"

#include <fmt/core.h>

#include <charconv>

#include "core/worker/base/error.hpp"
#include "tools/records/chunk.hpp"
#include "tools/records/pointer_record.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve::test {
namespace {

int key_of(std::string_view text) {
  text.remove_prefix(text.find('-') + 1);
  int key = 0;
  std::from_chars(text.data(), text.data() + text.size(), key);
  return key;
}

constexpr std::size_t kAllEntries = 1'000'000;

constexpr std::size_t bit(int key) {
  return static_cast<std::size_t>(key);
}

}  // namespace

Promises::Promises(Store& store, std::function<void(std::string)> tell)
    : store_(store), tell_(std::move(tell)), log_(adds_log(store, kSimulatedSet)) {}

void Promises::begin_add(int key) {
  ++open_[key];
  counts_from_.try_emplace(key, store_.end_of(log_));
}

void Promises::end_add(int key, bool is_committed) {
  --open_[key];
  if (is_committed) {
    source_.insert(key);
    committed_.insert(key);
  }
  if (open_[key] != 0 || committed_.contains(key)) return;
  counts_from_.erase(key);
  given_up_.insert(key);
  for (auto& [host, promised] : hosts_) {
    promised.received.reset(bit(key));
    promised.in_log.erase(key);
    promised.delivered.erase(key);
  }
}

// Whether an entry of the log is a promise: its transaction is not over, or was committed.
bool Promises::counts(int key, const LogPosition& position) const {
  const auto from = counts_from_.find(key);
  return from != counts_from_.end() && position > from->second;
}

const Build& Promises::build(const Keys& keys, const LogPosition& adds_from, UnixSeconds as_of) {
  const int number = ++builds_made_;
  BuildSettings settings;
  settings.set_name = kSimulatedSet;
  settings.as_of = as_of;
  settings.adds_from = adds_from;
  settings.seed = {1 + static_cast<std::uint64_t>(number)};
  settings.has_known_absent = number % 2 == 1;
  const KeyHasher hasher(settings.seed);
  const bool is_map = number % 3 == 2;
  MapValues values(1);
  if (is_map) {
    settings.kind = find_filter_kind("ribbon");
    settings.values = &values;
    for (const int key : keys) values.add(0, hasher(key_text(key)), value_in(number, key));
    if (values.finish()) throw Broken{"a key with two values"};
  }
  SnapshotBuilder builder(settings);
  for (const int key : keys) builder.add(key_text(key));
  for (int key = 0; settings.has_known_absent && key < kSimulatedKeys; ++key) {
    const std::string text = key_text(key);
    const std::string_view view = text;
    builder.add_known_absent(0, {&view, 1});
  }
  Build build{number, {}, is_map, builder.finish(), {}};
  for (const int key : keys) build.keys.set(bit(key));
  for (int key = 0; key < kSimulatedKeys; ++key) build.hashes.at(bit(key)) = hasher(key_text(key));
  newest_ = SnapshotView::decode(build.snapshot.get(), "simulated", Check::Tables).header().build_id;
  return builds_.insert_or_assign(*newest_, std::move(build)).first->second;
}

std::string Promises::name_of(const std::optional<BuildId>& id) const {
  const auto found = id ? builds_.find(*id) : builds_.end();
  return found == builds_.end() ? "no build" : fmt::format("build {}", found->second.number);
}

void Promises::has_written() {
  has_written_log();
  has_written_pointer();
  check_chunks();
}

void Promises::has_written_log() {
  for (const LogEntry& entry : store_.read_after(log_, logged_to_, kAllEntries)) {
    logged_[key_of(entry.key)] = logged_to_ = entry.position;
  }
}

void Promises::has_written_pointer() {
  const std::string key = pointer_key(store_, kSimulatedSet);
  const auto record = store_.get(key);
  if (!record || *record == pointer_text_) return;
  pointer_text_ = *record;
  const auto before = pointer_ ? pointer_->current : std::nullopt;
  pointer_ = decode_pointer_record(pointer_text_, key);
  if (!pointer_->current || pointer_->current == before) return;
  forgotten_ = std::max(forgotten_, std::min(pointer_->current->adds_from, pointer_->adds_trimmed_to));
  tell_(fmt::format("{} is current", name_of(pointer_->current->build_id)));
  for (auto& [host, promised] : hosts_) promised.possible.insert(pointer_->current->build_id);
}

// What is current or kept is whole.
void Promises::check_chunks() const {
  if (!pointer_) return;
  for (const SnapshotRecord& kept : kept_generations(*pointer_)) {
    for (std::uint32_t number = 0; number < kept.chunk_count(); ++number) {
      const std::string key = chunk_key(store_.prefix(), kSimulatedSet, kept.push_id, number);
      if (!store_.get(key))
        throw Broken{fmt::format("the store keeps {} without chunk {}", name_of(kept.build_id), number)};
    }
  }
}

void Promises::has_read_log(PromisedHost& reader, std::span<const LogEntry> entries) {
  Host& promised = hosts_.at(&reader);
  for (const LogEntry& entry : entries) {
    if (counts(key_of(entry.key), entry.position)) promised.delivered[key_of(entry.key)] = entry.position;
  }
}

// A key that was only in a lost snapshot may be absent after a rollback to one before it. A host cannot list
// the keys of its filters, and the log has lost them.
void Promises::store_was_replaced(Logged logged) {
  ++server_number_;
  logged_ = std::move(logged);
  logged_to_ = {};
  const std::string lost = std::exchange(pointer_text_, {});
  pointer_.reset();
  has_written();
  if (pointer_text_ == lost) return;
  for (auto& [host, promised] : hosts_) {
    for (int key = 0; key < kSimulatedKeys; ++key) {
      const auto last = logged_.find(key);
      if (last != logged_.end() && counts(key, last->second)) continue;
      const auto delivered = promised.delivered.find(key);
      if (delivered == promised.delivered.end() || delivered->second <= forgotten_)
        promised.received.reset(bit(key));
    }
  }
}

void Promises::begins_reading(PromisedHost& host) {
  Host& promised = hosts_.at(&host);
  promised.server_number = server_number_;
  promised.in_log.clear();
  for (const LogEntry& entry : store_.read_after(log_, {}, kAllEntries)) {
    if (counts(key_of(entry.key), entry.position)) promised.in_log.insert(key_of(entry.key));
  }
}

void Promises::has_read(PromisedHost& host) {
  Host& promised = hosts_.at(&host);
  if (promised.server_number != server_number_) return;
  for (const int key : promised.in_log) promised.received.set(bit(key));
}

void Promises::begins_look(PromisedHost& host) {
  begins_reading(host);
  Host& promised = hosts_.at(&host);
  promised.may_be_cached.insert(promised.possible.begin(), promised.possible.end());
  if (!host.answers_maybe()) promised.possible_before.clear();  // else it hides what is live
  promised.possible_before.merge(std::exchange(promised.possible, {}));
  if (pointer_ && pointer_->current) promised.possible.insert(pointer_->current->build_id);
}

void Promises::has_looked(PromisedHost& host, const RefreshOutcome& outcome) {
  Host& promised = hosts_.at(&host);
  tell_(outcome.is_good() ? fmt::format("has {}", name_of(outcome.live->build_id))
                          : fmt::format("in trouble: {}", to_string(outcome.trouble)));
  if (!outcome.is_good()) return;
  if (!promised.possible.contains(outcome.live->build_id)) fail(host, "calls current what the store did not");
  promised.must_be_live = true;
  promised.saved = outcome.live->build_id;
  promised.may_be_cached.clear();
  has_read(host);
}

// A publication by hand is in no cache. What was saved by a look that failed later, or was killed, may be.
void Promises::has_rebooted(PromisedHost& host, bool with_disk) {
  Host& promised = hosts_.at(&host);
  promised.must_be_live = false;
  promised.possible_before.insert(promised.may_be_cached.begin(), promised.may_be_cached.end());
  if (!with_disk) return;
  promised.received.reset();
  promised.delivered.clear();
  promised.saved.reset();
  promised.may_be_cached.clear();
  promised.live.reset();
  promised.possible.clear();
}

void Promises::has_started(PromisedHost& host) {
  Host& promised = hosts_.at(&host);
  if (promised.saved) promised.must_be_live = true;
}

void Promises::fail(const PromisedHost& host, const std::string& what) {
  throw Broken{host.name() + " " + what};
}

void Promises::check(PromisedHost& host) {
  Host& promised = hosts_.at(&host);
  const Attachment* attached = host.attached();
  if (attached == nullptr && host.answers_maybe()) return;
  check_live(host, promised,
             attached == nullptr ? std::nullopt : std::optional(attached->snapshot().header().build_id));
  if (attached != nullptr) check_answers(host, promised, *attached);
}

void Promises::check_live(PromisedHost& host, Host& promised, const std::optional<BuildId>& live) {
  if (!live) {
    if (promised.must_be_live) fail(host, "has nothing live any more");
    return;
  }
  promised.must_be_live = true;
  if (live == promised.live) return;
  if (!promised.possible.contains(*live) && !promised.possible_before.contains(*live) &&
      live != promised.saved)
    fail(host, "goes back from " + name_of(promised.live) + " to " + name_of(live));
  promised.live = live;
}

void Promises::check_answers(const PromisedHost& host, Host& promised, const Attachment& attached) {
  const Build& build = builds_.at(attached.snapshot().header().build_id);
  for (int key = 0; key < kSimulatedKeys; ++key) {
    const KeyHash hash = build.hashes.at(bit(key));
    const bool maybe = attached.may_contain(hash);
    const bool is_built = build.keys[bit(key)];
    const bool is_known = is_built || promised.received[bit(key)];
    ++answers.lookups;
    if (is_known && !maybe) {
      fail(host, fmt::format("calls {} absent, in build {}{}", key_text(key), build.number,
                             is_built ? ", which has it" : ", and has received it"));
    }
    if (!is_known) ++(maybe ? answers.unknown_and_maybe : answers.unknown_and_absent);
    // A lookup has seen it, so it stays, unless its add was given up.
    if (!is_known && !given_up_.contains(key) && attached.layer().keys() != 0 &&
        attached.layer().may_contain(hash)) {
      const auto delivered = promised.delivered.find(key);
      if (delivered != promised.delivered.end() && delivered->second > forgotten_ &&
          counts(key, delivered->second))
        promised.received.set(bit(key));
    }
    if (!build.is_map || !is_known) continue;
    const MapAnswer found = attached.find(hash);
    if (found == kUnknown) continue;
    if (!is_built || found != value_in(build.number, key))
      fail(host, fmt::format("has a value for {} that is not of build {}", key_text(key), build.number));
    ++answers.values;
  }
}

}  // namespace keysieve::test
