#include "tests/simulation/promises.hpp"

#include <charconv>

#include "tools/records/chunk.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/pointer_changes.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve::test {
namespace {

int key_of(std::string_view text) {
  text.remove_prefix(text.find('-') + 1);
  int key = 0;
  std::from_chars(text.data(), text.data() + text.size(), key);
  return key;
}

constexpr std::size_t bit(int key) {
  return static_cast<std::size_t>(key);
}

}  // namespace

Promises::Promises(SimulatedTime& time, Network& network, Story& story)
    : time_(time), network_(network), story_(story), log_(adds_log(network.server(), kSimulatedSet)) {
  network.on_write = [this] { has_written(); };
  network.on_read_log = [this](const Machine& reader, std::span<const LogEntry> entries) {
    has_read_log(reader, entries);
  };
}

void Promises::begin_add(int key) {
  ++open_[key];
  counts_from_.try_emplace(key, network_.server().contents.logs[log_].end);
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

const Build& Promises::built(Build build) {
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
  const auto& logs = network_.server().contents.logs;
  if (const auto log = logs.find(log_); log != logs.end() && !log->second.entries.empty()) {
    const auto& [position, entry] = *log->second.entries.rbegin();
    logged_[key_of(entry.key)] = position;
  }
}

void Promises::has_written_pointer() {
  const auto& records = network_.server().contents.records;
  const std::string key = pointer_key(network_.server(), kSimulatedSet);
  const auto record = records.find(key);
  if (record == records.end() || record->second == pointer_text_) return;
  pointer_text_ = record->second;
  const auto before = pointer_ ? pointer_->current : std::nullopt;
  pointer_ = decode_pointer_record(pointer_text_, key);
  if (!pointer_->current || pointer_->current == before) return;
  forgotten_ = std::max(forgotten_, std::min(pointer_->current->adds_from, pointer_->adds_trimmed_to));
  story_.tell(fmt::format("{} is current", name_of(pointer_->current->build_id)));
  for (auto& [host, promised] : hosts_) promised.possible.insert(pointer_->current->build_id);
}

// What is current or kept is whole.
void Promises::check_chunks() const {
  if (!pointer_) return;
  for (const SnapshotRecord& kept : kept_generations(*pointer_)) {
    for (std::uint32_t number = 0; number < kept.chunk_count(); ++number) {
      const std::string key = chunk_key(network_.server().prefix(), kSimulatedSet, kept.push_id, number);
      if (!network_.server().contents.records.contains(key))
        throw Broken{fmt::format("the store keeps {} without chunk {}", name_of(kept.build_id), number)};
    }
  }
}

void Promises::has_read_log(const Machine& reader, std::span<const LogEntry> entries) {
  for (auto& [host, promised] : hosts_) {
    if (&host->machine != &reader) continue;
    for (const LogEntry& entry : entries) {
      if (counts(key_of(entry.key), entry.position)) promised.delivered[key_of(entry.key)] = entry.position;
    }
  }
}

void Promises::replicate() {
  replica_ = Replica{network_.server().contents, logged_};
}

// A key that was only in a lost snapshot may be absent after a rollback to one before it. A host cannot list
// the keys of its filters, and the log has lost them.
bool Promises::fail_over() {
  if (!replica_) return false;
  const std::string lost = pointer_text_;
  network_.replace_server(replica_->contents);
  logged_ = replica_->logged;
  pointer_text_.clear();
  pointer_.reset();
  has_written();
  if (pointer_text_ == lost) return true;
  for (auto& [host, promised] : hosts_) {
    for (int key = 0; key < kSimulatedKeys; ++key) {
      const auto logged = logged_.find(key);
      if (logged != logged_.end() && counts(key, logged->second)) continue;
      const auto delivered = promised.delivered.find(key);
      if (delivered == promised.delivered.end() || delivered->second <= forgotten_)
        promised.received.reset(bit(key));
    }
  }
  return true;
}

void Promises::begins_reading(SimulatedHost& host) {
  Host& promised = hosts_.at(&host);
  promised.server_number = network_.server_number();
  promised.in_log.clear();
  for (const auto& [position, entry] : network_.server().contents.logs[log_].entries) {
    if (counts(key_of(entry.key), position)) promised.in_log.insert(key_of(entry.key));
  }
}

void Promises::has_read(SimulatedHost& host) {
  Host& promised = hosts_.at(&host);
  if (promised.server_number != network_.server_number()) return;
  for (const int key : promised.in_log) promised.received.set(bit(key));
}

void Promises::begins_look(SimulatedHost& host) {
  begins_reading(host);
  Host& promised = hosts_.at(&host);
  promised.may_be_cached.insert(promised.possible.begin(), promised.possible.end());
  if (!host.answers_maybe()) promised.possible_before.clear();  // else it hides what is live
  promised.possible_before.merge(std::exchange(promised.possible, {}));
  if (pointer_ && pointer_->current) promised.possible.insert(pointer_->current->build_id);
}

void Promises::has_looked(SimulatedHost& host, const RefreshOutcome& outcome) {
  Host& promised = hosts_.at(&host);
  story_.tell(outcome.is_good() ? fmt::format("has {}", name_of(outcome.live->build_id))
                                : fmt::format("in trouble: {}", to_string(outcome.trouble)));
  if (!outcome.is_good()) return;
  if (!promised.possible.contains(outcome.live->build_id)) fail(host, "calls current what the store did not");
  promised.must_be_live = true;
  promised.saved = outcome.live->build_id;
  promised.may_be_cached.clear();
  has_read(host);
}

// A publication by hand is in no cache. What was saved by a look that failed later, or was killed, may be.
void Promises::has_rebooted(SimulatedHost& host, bool with_disk) {
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

void Promises::has_started(SimulatedHost& host) {
  Host& promised = hosts_.at(&host);
  if (promised.saved) promised.must_be_live = true;
}

void Promises::fail(const SimulatedHost& host, const std::string& what) {
  throw Broken{host.machine.name + " " + what};
}

void Promises::check(SimulatedHost& host) {
  const OnMachine there(time_, host.machine);
  Host& promised = hosts_.at(&host);
  const Attachment* attached = host.attached();
  if (attached == nullptr && host.answers_maybe()) return;
  check_live(host, promised,
             attached == nullptr ? std::nullopt : std::optional(attached->snapshot().header().build_id));
  if (attached != nullptr) check_answers(host, promised, *attached);
}

void Promises::check_live(SimulatedHost& host, Host& promised, const std::optional<BuildId>& live) {
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

void Promises::check_answers(const SimulatedHost& host, Host& promised, const Attachment& attached) {
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
