#include "tools/loader/adds/adds_mirror.hpp"

#include <algorithm>
#include <utility>

#include "core/builder/base/log_positions.hpp"
#include "core/worker/base/error.hpp"
#include "tools/program/durable_file.hpp"

namespace keysieve {
namespace {

// Copied at once between file and memory.
constexpr std::size_t kEntriesAtOnce = 4096;
constexpr std::size_t kBytesAtOnce = std::size_t{1} << 20;

}  // namespace

void AddsMirror::load() {
  const bool was_empty = entries_.empty();
  const std::size_t unsaved = unsaved_;
  LogPosition last{};
  try {
    for (;;) {
      const std::vector<LogEntry> some = file_.read_after(last, kEntriesAtOnce);
      if (some.empty()) break;
      merge(some);
      unsaved_ = unsaved;  // these are
      last = some.back().position;
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data) throw;
    must_be_rewritten_ = true;
    throw;
  }
  take_note(file_.note());
  must_be_rewritten_ = !was_empty;
  try {
    file_.sync();           // its writer may have been killed before it did
  } catch (const Error&) {  // save() says why
    must_be_rewritten_ = true;
    unsaved_ = entries_.size();
  }
}

// This process may have begun without it, and have found losses since.
void AddsMirror::take_note(const std::string& note) {
  if (note.size() != sizeof known_log_) return;
  const KnownLog own = std::exchange(known_log_, keysieve::load<KnownLog>(as_bytes(note).data()));
  const bool has_log = known_log_.witness.begun != LogPosition{} || own.witness.begun == LogPosition{};
  KnownLog both = has_log ? known_log_ : own;
  both.witness.lost_to = std::max(known_log_.witness.lost_to, own.witness.lost_to);
  know(both);
}

std::optional<LogPosition> AddsMirror::merge(std::span<const LogEntry> entries) {
  Entries fresh;
  for (const LogEntry& entry : entries) take(fresh, entry.position, entry.key);
  if (fresh.empty()) return std::nullopt;
  unsaved_ += fresh.size();
  const std::size_t first = first_after(fresh.front().position);
  const auto middle = static_cast<std::ptrdiff_t>(entries_.size());
  entries_.insert(entries_.end(), fresh.begin(), fresh.end());
  if (first != static_cast<std::size_t>(middle)) {
    std::inplace_merge(entries_.begin(), entries_.begin() + middle, entries_.end(),
                       [](const Entry& a, const Entry& b) { return a.position < b.position; });
    must_be_rewritten_ = true;
  }
  return first == 0 ? LogPosition{} : entries_[first - 1].position;
}

// Positions in `fresh` rise too: when an entry was moved to a free position, all positions before it are
// taken.
void AddsMirror::take(Entries& fresh, LogPosition position, std::string_view key) {
  for (;; position = next_log_position(position, 0)) {
    const Entry* there = find(entries_, position);
    if (there == nullptr) there = find(fresh, position);
    if (there == nullptr) break;
    if (key_of(*there) == key) return;
  }
  fresh.push_back({position, keys_.size(), key.size()});
  keys_.append(key);
}

const AddsMirror::Entry* AddsMirror::find(const Entries& among, const LogPosition& position) const {
  if (among.empty() || among.back().position < position) return nullptr;
  const auto at = std::partition_point(among.begin(), among.end(),
                                       [&](const Entry& entry) { return entry.position < position; });
  return at->position == position ? &*at : nullptr;
}

void AddsMirror::know(const KnownLog& log) {
  KnownLog step = log;
  step.witness = known_log_.witness;
  step.witness.lost_to = log.witness.lost_to;
  is_loss_unsaved_ = is_loss_unsaved_ || step != known_log_;
  known_log_ = log;
}

// It has no position, so it is no entry of the log.
LogEntry AddsMirror::note() const {
  return {{}, std::string(as_text(std::as_bytes(std::span(&known_log_, 1))))};
}

void AddsMirror::trim(const LogPosition& up_to) {
  const std::size_t first = first_after(up_to);
  if (first == 0) return;
  AddsMirror kept(path_);
  while (first + kept.entries_.size() < entries_.size()) {
    kept.merge(some_from(first + kept.entries_.size()));
  }
  entries_ = std::move(kept.entries_);
  keys_ = std::move(kept.keys_);
  unsaved_ = std::min(unsaved_, entries_.size());
  must_be_rewritten_ = true;
}

void AddsMirror::save() {
  if (must_be_rewritten_) {
    rewrite_file();
  } else if (unsaved() != 0) {
    append_to_file();
  }
  is_loss_unsaved_ = false;
  must_be_rewritten_ = false;
  unsaved_ = 0;
}

void AddsMirror::append_to_file() {
  std::size_t first = first_after(file_.end());
  do {
    std::vector<LogEntry> some = some_from(first);
    first += some.size();
    if (first == entries_.size()) some.push_back(note());
    file_.append(some);
  } while (first < entries_.size());
}

void AddsMirror::rewrite_file() {
  DurableFile file(path_);
  for (std::size_t first = 0; first < entries_.size();) {
    const std::vector<LogEntry> some = some_from(first);
    const std::size_t count = entries_of_one_frame(some);
    file.append(as_bytes(encode_log_frame(std::span(some).first(count))));
    first += count;
  }
  const LogEntry last = note();
  file.append(as_bytes(encode_log_frame(std::span(&last, 1))));
  file.commit();
}

std::size_t AddsMirror::first_after(const LogPosition& position) const {
  const auto at = std::partition_point(entries_.begin(), entries_.end(),
                                       [&](const Entry& entry) { return entry.position <= position; });
  return static_cast<std::size_t>(at - entries_.begin());
}

std::vector<LogEntry> AddsMirror::some_from(std::size_t first) const {
  std::vector<LogEntry> some;
  const std::size_t end = std::min(first + kEntriesAtOnce, entries_.size());
  for (std::size_t bytes = 0; first < end && bytes < kBytesAtOnce; bytes += entries_[first++].key_bytes) {
    some.push_back({entries_[first].position, std::string(key_of(entries_[first]))});
  }
  return some;
}

}  // namespace keysieve
