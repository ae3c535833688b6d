#include "tools/loader/adds/adds_reader.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/builder/base/log_positions.hpp"
#include "core/worker/base/clock.hpp"
#include "core/worker/base/error.hpp"
#include "tools/loader/config/private_cache.hpp"
#include "tools/loader/report/refresh_outcome.hpp"
#include "tools/program/durable_file.hpp"
#include "tools/program/printable.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kBatchEntries = 256;      // between two looks at signals; at most 256 MiB of keys
constexpr std::size_t kEntriesPerLook = 65536;  // then the other sets have their turn
constexpr std::size_t kShownBytes = 80;

}  // namespace

void KeptAdds::load() {
  if (is_loaded_) return;
  try {
    check_private_folder(folder_of(mirror_.path()));
    check_private_file(mirror_.path());
    mirror_.load();
    is_complete_ = true;
  } catch (const Error& error) {
    set_.recorder.cache_failed(error.what());
    if (error.kind() != ErrorKind::Data) {
      save_failure_ = error.what();
      return;  // tried again at each look: it may be repaired, or there were too many open files
    }
  }
  is_loaded_ = true;
  save_failure_.clear();
  news_ = LogPosition{};
}

void KeptAdds::take(std::vector<LogEntry> entries) {
  std::erase_if(entries, [this](const LogEntry& entry) {
    const bool is_too_long = entry.key.size() > kMaxLoggedKeyBytes;
    if (is_too_long)
      set_.recorder.skipped("too long",
                            fmt::format("the adds log holds a key of {}, longer than can be added",
                                        format_bytes(entry.key.size())));
    return is_too_long;
  });
  const std::optional<LogPosition> before = mirror_.merge(entries);
  if (before) news_ = std::min(news_.value_or(*before), *before);
}

// Without a writable cache the latest adds are lost if shared memory is wiped while the log cannot be read,
// because the store is unreachable or has lost it.
void KeptAdds::save() {
  if (!is_loaded_ || (!save_failure_.empty() && !set_.retries.is_due())) return;
  try {
    mirror_.save();
    save_failure_.clear();
  } catch (const Error& error) {
    set_.retries.failed();
    save_failure_ = error.what();
    set_.recorder.cache_failed(error.what());
  }
}

std::optional<std::string> KeptAdds::save_now() {
  if (mirror_.unsaved() == 0) return std::nullopt;
  save_failure_.clear();  // not a retry
  load();
  save();
  if (mirror_.unsaved() == 0) return std::nullopt;
  return save_failure_;
}

void AddsReader::remember_loss(const LogPosition& lost_to) {
  if (known() != KnownLog{}) return;
  know_witness({.lost_to = lost_to});
  kept_.save();
}

// One sync for all that has arrived, however the reading ends.
void AddsReader::read(Store& store, const NeededAdds& needed, const PointerRecord& pointer, Amount amount,
                      bool is_trusted) {
  try {
    read_on(store, needed, pointer.adds_trimmed_to, is_trusted ? &pointer.adds_log : nullptr, amount);
  } catch (...) {
    if (reached_ == Reached::Some) reached_ = Reached::Nothing;  // there is no reading on right away
    kept_.save();
    throw;
  }
  kept_.save();
}

void AddsReader::read_on(Store& store, const NeededAdds& needed, const LogPosition& trimmed_to,
                         const LogWitness* by_push, Amount amount) {
  if (!read_from_ || needed.from < *read_from_) {
    received_ = {};
    seen_ = needed.from;
    read_from_ = needed.from;
  }
  const std::string name = adds_log(store, set_.config.name);
  forget_what_nobody_needs(needed, by_push);
  CheckedLog log(store, name, known(), trimmed_to);
  LogPosition after = read_up_to();
  bool is_again = false;
  for (std::size_t count = 0; amount == Amount::All || count < kEntriesPerLook;) {
    std::vector<LogEntry> entries = log.read_after(after, kBatchEntries);
    if (log.has_lost() && !is_again) {
      // Then a new key need not come after what was seen.
      spdlog::warn("{}: the log {} has lost keys; those already taken from it stay", set_.config.name, name);
      is_again = true;
      read_from_beginning();
      after = {};
      continue;
    }
    const LogFacts facts = store.facts_of(name);
    // A writer may trim the log between two batches.
    if (facts.trimmed_to > std::max(seen_, received_)) hole_ = std::max(hole_, facts.trimmed_to);
    if (!facts.unknown_field.empty())
      set_.recorder.skipped(
          "no add", fmt::format("{} holds an entry with the field {}; that of an add is \"key\"", name,
                                quoted(facts.unknown_field, kShownBytes)));
    const bool is_end = entries.size() < kBatchEntries;
    count += entries.size();
    if (!entries.empty()) after = entries.back().position;
    take(std::move(entries), log.known());
    if (is_end) return end(store, log.is_behind(), needed, by_push);
    reached_ = Reached::Some;
    if (!set_.on_progress()) throw LookAgain{};
  }
}

// The last entry that is known is read again, to see that it is there.
LogPosition AddsReader::read_up_to() const noexcept {
  const LogPosition& last = known().witness.position;
  return last == LogPosition{} ? seen_ : std::min(seen_, position_before(last));
}

// What CheckedLog calls lost without knowing how far the log was trimmed, it may not call so in read().
std::optional<AddsNews> AddsReader::find_news(Store& store) const {
  if (!kept_.is_loaded() || is_behind()) return std::nullopt;
  const std::string name = adds_log(store, set_.config.name);
  CheckedLog log(store, name, {.witness = known().witness}, {});
  std::vector<LogEntry> entries = log.read_after(read_up_to(), kBatchEntries);
  const LogFacts facts = store.facts_of(name);
  const bool is_end = entries.size() < kBatchEntries;
  const bool is_same_log = facts.begun == known().witness.begun && !log.has_lost() && !log.is_behind();
  const bool is_whole = !facts.is_cut && facts.trimmed_to <= std::max({seen_, received_, hole_});
  if (!is_end || !is_same_log || !is_whole || !facts.unknown_field.empty()) return std::nullopt;
  std::erase_if(entries, [this](const LogEntry& entry) { return entry.position <= seen_; });
  return AddsNews{std::move(entries), log.known()};
}

bool AddsReader::merge(AddsNews news) {
  take(std::move(news.entries), news.known);
  kept_.save();
  return kept_.mirror().unsaved() == 0;
}

// A store that was emptied and pushed to again has lost nothing of a set that never had adds. And what is
// live may have been built after keys were lost, whatever stands in the log since.
void AddsReader::forget_what_nobody_needs(const NeededAdds& needed, const LogWitness* by_push) {
  LogWitness witness = known().witness;
  const bool has_read_keys = witness.ordinal != 0 || witness.position != LogPosition{};
  const bool is_known_log = by_push != nullptr && witness.begun == by_push->begun;
  if (!has_read_keys && !is_known_log && witness.begun != LogPosition{}) {
    witness.begun = {};
    know_witness(witness);
    read_from_beginning();  // of the next one
  }
  if (by_push == nullptr) pushed_ = {};
  if (!is_behind() || needed.trimmed_at_most < known().behind_since) return;
  kept_.know({.witness = {.lost_to = lost_to()}});
  read_from_beginning();
}

void AddsReader::read_again() noexcept {
  if (!read_from_) return;
  received_ = std::max(received_, seen_);
  seen_ = *read_from_;
}

void AddsReader::read_from_beginning() {
  seen_ = {};
  read_from_ = seen_;
  received_ = {};
  hole_ = {};
}

void AddsReader::end(Store& store, bool lacks_keys, const NeededAdds& needed, const LogWitness* by_push) {
  const std::string name = adds_log(store, set_.config.name);
  const LogFacts facts = store.facts_of(name);
  if (facts.is_cut) {
    throw Error(ErrorKind::Data,
                fmt::format("{}: the log {} ends in the middle of an entry: it was cut on its way, or "
                            "its writer was killed, and the next add or push mends it",
                            store.name(), name));
  }
  compare(store, name, lacks_keys, by_push);
  if (hole_ > needed.trimmed_at_most) {
    throw Error(
        ErrorKind::Older,
        fmt::format("{}: the log {} was trimmed up to {}, but keys that were added after {} are needed: the "
                    "pointer record is older than the log",
                    store.name(), name, to_text(hole_), to_text(needed.trimmed_at_most)));
  }
  kept_.mark_complete();
}

// What the last push knew is compared once: what this host has read since goes on from there.
void AddsReader::compare(Store& store, const std::string& name, bool lacks_keys, const LogWitness* by_push) {
  const bool has_log = store.abilities().log;
  KnownLog now = known();
  LogWitness& witness = now.witness;
  if (by_push != nullptr) witness.lost_to = std::max(witness.lost_to, by_push->lost_to);
  kept_.know(now);  // even if the log cannot be read
  if (has_log && by_push != nullptr && by_push->begun != LogPosition{} && *by_push != pushed_) {
    CheckedLog log(store, name, {*by_push, known().behind_since, known().is_gone}, {});
    log.read_to_end();
    lacks_keys = lacks_keys || log.is_behind();
    if (!log.is_behind()) pushed_ = *by_push;
    witness.lost_to = std::max(witness.lost_to, log.known().lost_to);
    if (witness.position == LogPosition{} && witness.begun == log.known().begun) {
      witness.position = log.known().position;
      witness.ordinal = log.known().ordinal;
    }
  }
  lacks_keys = lacks_keys && has_log;
  if (lacks_keys && !is_behind()) {
    spdlog::warn("{}: the log {} is gone or lacks keys", set_.config.name, name);
    now.behind_since = log_position(static_cast<std::uint64_t>(unix_now_ms()), 0);
  }
  if (!lacks_keys) now.behind_since = {};
  now.is_gone = lacks_keys && store.facts_of(name).begun == LogPosition{} ? 1 : 0;
  kept_.know(now);
  reached_ = Reached::End;
}

void AddsReader::take(std::vector<LogEntry> entries, const LogWitness& witness) {
  std::erase_if(entries, [this](const LogEntry& entry) { return entry.position <= seen_; });
  if (!entries.empty()) {
    const LogPosition last = entries.back().position;
    kept_.take(std::move(entries));
    seen_ = last;  // only now: what memory ran out for is read again
  }
  know_witness(witness);
}

void AddsReader::know_witness(const LogWitness& witness) {
  KnownLog log = known();
  log.witness = witness;
  kept_.know(log);
}

// Entries that are forgotten must be read again if a store that still holds them leads back to before them.
void AddsReader::forget(const LogPosition& up_to) {
  kept_.forget(up_to);
  if (read_from_) {
    read_from_ = std::max(*read_from_, up_to);
    seen_ = std::max(seen_, *read_from_);
  }
  kept_.save();
}

}  // namespace keysieve
