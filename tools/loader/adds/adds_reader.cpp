#include "tools/loader/adds/adds_reader.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>

#include "tools/loader/config/private_cache.hpp"
#include "tools/loader/report/refresh_outcome.hpp"
#include "tools/transfer/adds_log.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kBatchEntries = 256;      // between two looks at signals; at most 256 MiB of keys
constexpr std::size_t kEntriesPerLook = 65536;  // then the other sets have their turn
constexpr Milliseconds kFirstSaveBackoff{1000};

std::string mirror_path(const LoaderConfig& loader, const SetConfig& set) {
  return loader.cache + "/" + set.name + ".adds";
}

}  // namespace

AddsReader::AddsReader(const SetConfig& config, const LoaderConfig& loader,
                       const std::function<bool()>& on_progress, SetLog& log)
    : config_(config),
      on_progress_(on_progress),
      log_(log),
      mirror_(mirror_path(loader, config)),
      save_backoff_(kFirstSaveBackoff) {}

void AddsReader::begin_look() {
  is_up_to_date_ = false;
  has_more_ = false;
  has_notice_ = false;
  load_mirror();
}

void AddsReader::load_mirror() {
  if (is_loaded_) return;
  try {
    check_private_folder(std::filesystem::path(mirror_.path()).parent_path());
    check_private_file(mirror_.path());
    mirror_.load();
    is_complete_ = true;
  } catch (const Error& error) {
    log_.say_cache_trouble(error.what());
    if (error.kind() != ErrorKind::Data) {
      save_failure_ = error.what();
      return;  // tried again at each look: it may be repaired, or there were too many open files
    }
  }
  is_loaded_ = true;
  news_ = LogPosition{};
}

// One sync for all that has arrived, however the reading ends.
void AddsReader::read(Store& store, const NeededAdds& needed, Amount amount) {
  try {
    read_on(store, needed, amount);
  } catch (...) {
    save_mirror();
    throw;
  }
  save_mirror();
}

void AddsReader::read_on(Store& store, const NeededAdds& needed, Amount amount) {
  begin_read(needed.from);
  log_name_ = adds_log(store, config_.name);
  forget_hole_of_lost_log(store);
  for (std::size_t count = 0; amount == Amount::All || count < kEntriesPerLook;) {
    const LogPosition read_after = seen_;
    const std::vector<LogEntry> entries = store.read_after(log_name_, read_after, kBatchEntries);
    find_hole(store.facts_of(log_name_), read_after);
    take(entries);
    count += entries.size();
    if (entries.empty() && has_lost_entries(store)) continue;
    has_more_ = entries.size() == kBatchEntries;
    if (!has_more_) break;
    if (!on_progress_()) throw Stopped{};
  }
  is_up_to_date_ = true;
  if (has_more_) return;
  check_end(store, store.facts_of(log_name_), needed);
  is_complete_ = true;
}

void AddsReader::begin_read(const LogPosition& from) {
  if (read_from_ && *read_from_ <= from && !must_read_again_) return;
  const bool is_new_part = !read_from_ || from < *read_from_;
  received_ = is_new_part ? LogPosition{} : std::max(received_, seen_);
  seen_ = std::min(from, read_from_.value_or(from));
  read_from_ = seen_;
  must_read_again_ = false;
}

// A log that ends before its hole is another one, as after a failover or in a store that was emptied.
void AddsReader::forget_hole_of_lost_log(Store& store) {
  if (hole_ != LogPosition{} && store.end_of(log_name_) < hole_) hole_ = {};
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

// Asked only when the log has nothing new. If entries are missing, a new one need not come after what was
// seen.
bool AddsReader::has_lost_entries(Store& store) {
  if (seen_ == LogPosition{} || store.end_of(log_name_) >= seen_) return false;
  spdlog::warn("{}: the log {} has lost entries; keys already taken from it stay", config_.name, log_name_);
  seen_ = {};
  read_from_ = seen_;
  received_ = {};
  hole_ = {};
  return true;
}

void AddsReader::skip(Store& store) {
  log_name_ = adds_log(store, config_.name);
  seen_ = store.end_of(log_name_);
  read_from_.reset();
  is_up_to_date_ = true;
}

void AddsReader::take(std::vector<LogEntry> entries) {
  if (entries.empty()) return;
  for (LogEntry& entry : entries) {
    if (entry.unknown_field) log_.say_unknown_entry(log_name_, *entry.unknown_field);
    has_notice_ = has_notice_ || (!entry.key && !entry.unknown_field);
    if (!entry.key || entry.key->size() <= kMaxLoggedKeyBytes) continue;
    log_.say_too_long(entry.key->size());
    entry.key.reset();
  }
  const std::optional<LogPosition> before = mirror_.merge(entries);
  if (before) news_ = std::min(news_.value_or(*before), *before);
  seen_ = entries.back().position;  // last: what memory ran out for is read again
}

// Without a writable cache the latest adds are lost if shared memory is wiped while the log cannot be read,
// because the store is unreachable or has lost it.
void AddsReader::save_mirror() {
  if (!is_loaded_) return;
  const SteadyTime now = std::chrono::steady_clock::now();
  if (!save_backoff_.is_due(now)) return;
  try {
    mirror_.save();
    save_backoff_.reset();
  } catch (const Error& error) {
    save_backoff_.failed(now);
    save_failure_ = error.what();
    log_.say_cache_trouble(error.what());
  }
}

std::optional<std::string> AddsReader::save_now() {
  if (mirror_.unsaved() == 0) return std::nullopt;
  save_backoff_.reset();
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
  if (read_from_) read_from_ = std::max(*read_from_, up_to);
  save_mirror();
}

std::optional<WatchedLog> AddsReader::watched_log() const {
  if (!is_up_to_date_) return std::nullopt;
  return WatchedLog{log_name_, seen_};
}

}  // namespace keysieve
