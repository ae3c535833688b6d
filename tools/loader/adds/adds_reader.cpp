#include "tools/loader/adds/adds_reader.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>

#include "core/builder/base/log_positions.hpp"
#include "core/worker/base/clock.hpp"
#include "tools/loader/config/private_cache.hpp"
#include "tools/loader/report/refresh_outcome.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kBatchEntries = 256;      // between two looks at signals; at most 256 MiB of keys
constexpr std::size_t kEntriesPerLook = 65536;  // then the other sets have their turn

LogPosition now_position() {
  return log_position(static_cast<std::uint64_t>(unix_now_ms()), 0);
}

std::string mirror_path(const LoaderConfig& loader, const SetConfig& set) {
  return loader.cache + "/" + set.name + ".adds";
}

}  // namespace

AddsReader::AddsReader(const SetConfig& config, const LoaderConfig& loader, Retries& retries,
                       const std::function<bool()>& on_progress, SetLog& log)
    : config_(config),
      retries_(retries),
      on_progress_(on_progress),
      log_(log),
      mirror_(mirror_path(loader, config)) {}

void AddsReader::begin_look() {
  is_compared_ = false;
  has_more_ = false;
  load_mirror();
}

void AddsReader::load_mirror() {
  if (is_loaded_) return;
  try {
    check_private_folder(std::filesystem::path(mirror_.path()).parent_path());
    check_private_file(mirror_.path());
    mirror_.load();
    is_complete_ = true;
    know_what_was_saved();
  } catch (const Error& error) {
    log_.say_cache_trouble(error.what());
    if (error.kind() != ErrorKind::Data) {
      save_failure_ = error.what();
      return;  // tried again at each look: it may be repaired, or there were too many open files
    }
  }
  is_loaded_ = true;
  save_failure_.clear();
  news_ = LogPosition{};
}

// This process may have begun without it.
void AddsReader::know_what_was_saved() {
  const LogPosition lost_to = known_.witness.lost_to;
  if (known_.witness.begun == LogPosition{} || mirror_.known_log().witness.begun != LogPosition{})
    known_ = mirror_.known_log();
  known_.witness.lost_to = std::max(known_.witness.lost_to, lost_to);
}

void AddsReader::remember_loss(const LogPosition& lost_to) {
  if (known_ != KnownLog{}) return;
  known_.witness.lost_to = lost_to;
  save_mirror();
}

// One sync for all that has arrived, however the reading ends.
void AddsReader::read(Store& store, const NeededAdds& needed, const PointerRecord& pointer, Amount amount,
                      bool is_trusted) {
  try {
    read_on(store, needed, pointer.adds_trimmed_to, is_trusted ? &pointer.adds_log : nullptr, amount);
  } catch (...) {
    save_mirror();
    throw;
  }
  save_mirror();
}

void AddsReader::read_on(Store& store, const NeededAdds& needed, const LogPosition& trimmed_to,
                         const LogWitness* by_push, Amount amount) {
  begin_read(needed.from);
  log_name_ = adds_log(store, config_.name);
  forget_what_nobody_needs(needed, by_push);
  CheckedLog log(store, log_name_, known_.witness, trimmed_to, gap());
  LogPosition after = read_up_to();
  bool is_again = false;
  for (std::size_t count = 0; amount == Amount::All || count < kEntriesPerLook;) {
    std::vector<LogEntry> entries = log.read_after(after, kBatchEntries);
    if (log.has_lost() && !is_again) {
      is_again = true;
      begin_again();
      after = {};
      continue;
    }
    const LogFacts facts = store.facts_of(log_name_);
    find_hole(facts, seen_);
    if (!facts.unknown_field.empty()) log_.say_unknown_entry(log_name_, facts.unknown_field);
    has_more_ = entries.size() == kBatchEntries;
    count += entries.size();
    if (!entries.empty()) after = entries.back().position;
    take(std::move(entries));
    known_.witness = log.known();
    if (!has_more_) break;
    if (!on_progress_()) throw Stopped{};
  }
  if (has_more_) return;
  const LogFacts facts = store.facts_of(log_name_);
  if (!facts.is_cut) compare(store, log.is_behind(), by_push);
  check_end(store, facts, needed);
  is_complete_ = true;
}

// The last entry that is known is read again, to see that it is there.
LogPosition AddsReader::read_up_to() const noexcept {
  const LogPosition& known = known_.witness.position;
  return known == LogPosition{} ? seen_ : std::min(seen_, position_before(known));
}

// What CheckedLog calls lost without knowing how far the log was trimmed, it may not call so in read().
std::optional<AddsNews> AddsReader::find_news(Store& store) const {
  if (!is_loaded_ || is_behind()) return std::nullopt;
  CheckedLog log(store, log_name_, known_.witness, {});
  std::vector<LogEntry> entries = log.read_after(read_up_to(), kBatchEntries);
  const LogFacts facts = store.facts_of(log_name_);
  const bool is_end = entries.size() < kBatchEntries;
  const bool is_same_log = facts.begun == known_.witness.begun && !log.has_lost() && !log.is_behind();
  const bool is_whole = !facts.is_cut && facts.trimmed_to <= std::max({seen_, received_, hole_});
  if (!is_end || !is_same_log || !is_whole || !facts.unknown_field.empty()) return std::nullopt;
  std::erase_if(entries, [this](const LogEntry& entry) { return entry.position <= seen_; });
  return AddsNews{std::move(entries), log.known()};
}

bool AddsReader::take_news(AddsNews news) {
  take(std::move(news.entries));
  known_.witness = news.known;
  save_mirror();
  return mirror_.unsaved() == 0;
}

LogGap AddsReader::gap() const noexcept {
  return {known_.behind_since, known_.is_gone != 0};
}

// A store that was emptied and pushed to again has lost nothing of a set that never had adds. And what is
// live may have been built after keys were lost, whatever stands in the log since.
void AddsReader::forget_what_nobody_needs(const NeededAdds& needed, const LogWitness* by_push) {
  LogWitness& known = known_.witness;
  const bool has_read_keys = known.ordinal != 0 || known.position != LogPosition{};
  const bool is_known_log = by_push != nullptr && known.begun == by_push->begun;
  if (!has_read_keys && !is_known_log && known.begun != LogPosition{}) {
    known.begun = {};
    read_from_beginning();  // of the next one
  }
  if (by_push == nullptr) pushed_ = {};
  if (!is_behind() || needed.trimmed_at_most < known_.behind_since) return;
  known_ = {.witness = {.lost_to = std::max(known.lost_to, known_.behind_since)}};
  read_from_beginning();
}

void AddsReader::begin_read(const LogPosition& from) {
  if (read_from_ && *read_from_ <= from) return;
  received_ = {};
  seen_ = from;
  read_from_ = from;
}

void AddsReader::read_again() noexcept {
  if (!read_from_) return;
  received_ = std::max(received_, seen_);
  seen_ = *read_from_;
}

// If keys are lost, a new one need not come after what was seen.
void AddsReader::begin_again() {
  spdlog::warn("{}: the log {} has lost keys; those already taken from it stay", config_.name, log_name_);
  read_from_beginning();
}

void AddsReader::read_from_beginning() {
  seen_ = {};
  read_from_ = seen_;
  received_ = {};
  hole_ = {};
}

// A writer may trim the log between two batches.
void AddsReader::find_hole(const LogFacts& log, const LogPosition& read_after) {
  if (log.trimmed_to > std::max(read_after, received_)) hole_ = std::max(hole_, log.trimmed_to);
}

void AddsReader::check_end(const Store& store, const LogFacts& log, const NeededAdds& needed) const {
  if (log.is_cut) {
    throw Error(ErrorKind::Data,
                fmt::format("{}: the log {} ends in the middle of an entry: it was cut on its way, or "
                            "its writer was killed, and the next add or push mends it",
                            store.name(), log_name_));
  }
  if (!lacks_any_of(needed)) return;
  throw Error(
      ErrorKind::Older,
      fmt::format("{}: the log {} was trimmed up to {}, but keys that were added after {} are needed: the "
                  "pointer record is older than the log",
                  store.name(), log_name_, to_text(hole_), to_text(needed.trimmed_at_most)));
}

// What the last push knew is compared once: what this host has read since goes on from there.
void AddsReader::compare(Store& store, bool is_behind, const LogWitness* by_push) {
  is_compared_ = true;
  const bool has_log = store.abilities().log;
  LogWitness& known = known_.witness;
  if (by_push != nullptr) known.lost_to = std::max(known.lost_to, by_push->lost_to);
  if (has_log && by_push != nullptr && by_push->begun != LogPosition{} && *by_push != pushed_) {
    CheckedLog log(store, log_name_, *by_push, {}, gap());
    log.read_to_end();
    is_behind = is_behind || log.is_behind();
    if (!log.is_behind()) pushed_ = *by_push;
    known.lost_to = std::max(known.lost_to, log.known().lost_to);
    if (known.position == LogPosition{} && known.begun == log.known().begun) {
      known.position = log.known().position;
      known.ordinal = log.known().ordinal;
    }
  }
  is_behind = is_behind && has_log;
  if (is_behind && !this->is_behind())
    spdlog::warn("{}: the log {} is gone or lacks keys", config_.name, log_name_);
  if (!is_behind) known_.behind_since = {};
  if (is_behind && !this->is_behind()) known_.behind_since = now_position();
  known_.is_gone = is_behind && store.facts_of(log_name_).begun == LogPosition{} ? 1 : 0;
}

void AddsReader::take(std::vector<LogEntry> entries) {
  std::erase_if(entries, [this](const LogEntry& entry) { return entry.position <= seen_; });
  if (entries.empty()) return;
  const LogPosition last = entries.back().position;
  std::erase_if(entries, [this](const LogEntry& entry) {
    const bool is_too_long = entry.key.size() > kMaxLoggedKeyBytes;
    if (is_too_long) log_.say_too_long(entry.key.size());
    return is_too_long;
  });
  const std::optional<LogPosition> before = mirror_.merge(entries);
  if (before) news_ = std::min(news_.value_or(*before), *before);
  seen_ = last;  // only now: what memory ran out for is read again
}

// Without a writable cache the latest adds are lost if shared memory is wiped while the log cannot be read,
// because the store is unreachable or has lost it.
void AddsReader::save_mirror() {
  mirror_.know(known_);
  if (!is_loaded_ || (!save_failure_.empty() && !retries_.is_due())) return;
  try {
    mirror_.save();
    save_failure_.clear();
  } catch (const Error& error) {
    retries_.failed();
    save_failure_ = error.what();
    log_.say_cache_trouble(error.what());
  }
}

std::optional<std::string> AddsReader::save_now() {
  if (mirror_.unsaved() == 0) return std::nullopt;
  save_failure_.clear();  // not a retry
  load_mirror();
  save_mirror();
  if (mirror_.unsaved() == 0) return std::nullopt;
  return save_failure_;
}

bool AddsReader::has_any_up_to(const LogPosition& position) const {
  return mirror_.count_after(position) != mirror_.count_after({});
}

// Entries that are forgotten must be read again if a store that still holds them leads back to before them.
void AddsReader::forget(const LogPosition& up_to) {
  mirror_.trim(up_to);
  if (read_from_) {
    read_from_ = std::max(*read_from_, up_to);
    seen_ = std::max(seen_, *read_from_);
  }
  save_mirror();
}

}  // namespace keysieve
