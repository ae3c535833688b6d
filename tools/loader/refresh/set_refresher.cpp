#include "tools/loader/refresh/set_refresher.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <filesystem>

#include "core/publisher/shm/bypass.hpp"
#include "core/worker/base/error.hpp"
#include "tools/program/memory_left.hpp"

namespace keysieve {

SetRefresher::SetRefresher(const SetConfig& config, const LoaderConfig& loader, StoreConnection& store,
                           std::function<bool()> on_progress)
    : set_{.config = config,
           .publishing = {.directory = loader.directory,
                          .group = loader.group,
                          .max_total_bytes = loader.max_total_bytes,
                          .check_memory =
                              [](std::uint64_t bytes) { check_memory_for(bytes, "the publication"); }},
           .cache = loader.cache,
           .poll_interval = loader.poll_interval,
           .is_once = loader.is_once,
           .on_progress =
               [&store, on_progress = std::move(on_progress)] {
                 store.answered();
                 return on_progress();
               },
           .recorder = SetRecorder(config),
           .retries = Retries(loader.poll_interval)},
      store_(store),
      adds_(set_),
      live_(set_, adds_),
      follower_(set_, store, adds_, live_) {}

const RefreshOutcome& SetRefresher::refresh(SteadyTime now) {
  live_.forget();
  adds_.begin_look();
  looks_again_ = false;
  set_.retries.begin_look(now);
  std::optional<Publisher> publisher;
  RefreshOutcome outcome;
  try {
    outcome = look(publisher, now);
  } catch (const LookAgain&) {
    looks_again_ = true;
    store_.distrust_copies();
    return outcome_;
  } catch (const std::exception& error) {
    outcome = cannot_publish(error);
    if (publisher && dynamic_cast<const Error*>(&error) == nullptr)
      set_.retries.failed();  // no memory, for example
  }
  live_.find_out();
  // Since the publish the directory was wiped, or the file descriptors ran out.
  if (outcome.is_good() && !live_.publication())
    outcome = cannot_publish(Error(ErrorKind::CannotCreate,
                                   "the new publication is gone, or cannot be attached: perhaps no file "
                                   "descriptor is left (ulimit -n)"));
  // Reported with any other trouble, because it matters most while the store is unreachable.
  if (adds_.mirror().unsaved() != 0 && !holds_back_ready(outcome)) {
    const std::string other = outcome.is_good() ? "" : "; and " + outcome.reason;
    outcome = adds_in_memory(adds_.mirror().unsaved(), adds_.kept().save_failure());
    outcome.reason += other;
  }
  outcome_ = std::move(outcome);
  outcome_.live = live_.publication();
  if (!outcome_.is_good()) store_.distrust_copies();
  const bool is_cached = set_.recorder.report().cache_trouble.empty();
  set_.retries.end_look(now, outcome_.is_good() && is_cached);
  set_.recorder.looked(outcome_, adds_.mirror().count_after({}));
  if (publisher) publisher->note(set_.recorder.report().troubles());
  return outcome_;
}

bool SetRefresher::take_adds(SteadyTime now, Changed changed) {
  if (!outcome_.is_good() || has_more()) return false;
  try {
    auto news = store_.use(now, [&](Store& store) -> std::optional<AddsNews> {
      if (changed == Changed::Anything && read_record_texts(store, set_.config.name) != records_)
        return std::nullopt;
      return adds_.find_news(store);
    });
    if (!news) return false;
    if (news->entries.empty()) return true;
    const Publisher publisher = live_.lock();
    if (!adds_.merge(std::move(*news)) || !live_.add(publisher)) return false;
  } catch (const std::exception&) {
    return false;  // refresh() finds it again, and says it
  }
  set_.recorder.took_adds(adds_.mirror().count_after({}));
  return true;
}

// A look, from top to bottom. What is live stays live, whatever ends it. What it throws is about publishing.
RefreshOutcome SetRefresher::look(std::optional<Publisher>& publisher, SteadyTime now) {
  live_.begin_look(publisher, now);
  adds_.kept().load();
  if (const auto lost_to = publisher->adds_lost_to_ms()) adds_.remember_loss(log_position(*lost_to, 0));
  if (!live_.is_whole() && set_.retries.is_due()) follower_.publish_newest_cached(*publisher, now);

  RefreshOutcome outcome;
  std::optional<StoreRecords> records;
  ask(outcome, now, [&](Store& store) {
    if (!live_.publication()) adds_.read_again();
    records = read_store_records(store, set_.config.name, store_.name());
  });
  if (records) {
    apply_bypass(*records, *publisher);
    ask(outcome, now, [&](Store& store) { outcome = follower_.follow(*publisher, store, *records, now); });
  }
  const auto& live = live_.publication();
  if (records && live) {
    if (records->pointer && records->pointer->current) follower_.forget_adds(*records->pointer);
    const bool is_trusted = outcome.cause != ErrorKind::Older;
    ask(outcome, now, [&](Store& store) {
      adds_.read(store, adds_needed_by(live->adds_from, live->as_of),
                 records->pointer.value_or(PointerRecord{}), AddsReader::Amount::Some, is_trusted);
    });
  }
  // While the log cannot be read, only a loss that is known already counts.
  const bool are_adds_lost = live && adds_.may_have_lost(adds_needed_by(live->adds_from, live->as_of));
  if (are_adds_lost) publisher->mark_adds_lost(milliseconds_of(adds_.lost_to()) + 1);
  // Whatever the store said: an earlier keysieved may have been killed before it had added everything.
  try {
    live_.fill(*publisher);
    // Not earlier, since no key that was added while all was maybe may become absent.
    if (!are_adds_lost && adds_.is_compared()) publisher->forget_lost_adds();
  } catch (const Error& error) {
    if (outcome.is_good()) outcome = cannot_publish(error);
  }
  if (are_adds_lost && outcome.is_good()) outcome = adds_lost(adds_.lost_to(), adds_.is_behind());
  if (outcome.is_good()) publisher->confirm(unix_now());
  if (outcome.is_good() && records) records_ = std::move(records->texts);
  return outcome;
}

// Without a pointer record that can be read, the bypass that is on stays on.
void SetRefresher::apply_bypass(const StoreRecords& records, const Publisher& publisher) {
  const StoreBypass of_set = records.pointer ? records.pointer->bypass_until : publisher.store_bypass();
  const StoreBypass until = bypassed_until({of_set, records.bypass_of_all}, unix_now());
  set_store_bypass(set_.publishing.directory, set_.config.name, until.value_or(kBypassOver));
  set_.recorder.bypassed(until);
}

// If the store does not answer as it should, `outcome` says so.
void SetRefresher::ask(RefreshOutcome& outcome, SteadyTime now, const std::function<void(Store&)>& question) {
  try {
    store_.use(now, [&](Store& store) {
      question(store);
      return true;
    });
  } catch (const Error& error) {
    const bool is_older = error.kind() == ErrorKind::Older;
    // Behind a build that was refused, the log may be trimmed further than what is live needs.
    if (is_older && !outcome.is_good()) return;
    outcome = cannot_ask(error);
    if (!is_older) adds_.read_again();
  }
}

void SetRefresher::publish_cached(SteadyTime now) {
  try {
    live_.find_out();
    set_.retries.begin_look(now);
    if (!live_.publication() && set_.retries.is_due()) {
      Publisher publisher = live_.lock();
      adds_.kept().load();
      if (adds_.kept().is_complete()) follower_.publish_newest_cached(publisher, now);
    }
  } catch (const std::exception& error) {
    spdlog::debug("{}: not published from the cache: {}", set_.config.name, error.what());
  }
  set_.retries.end_look(now, false);
  outcome_.live = live_.publication();
}

std::optional<std::string> SetRefresher::unsaved_adds() {
  const std::optional<std::string> failure = adds_.kept().save_now();
  if (!failure) return std::nullopt;
  return fmt::format("{}: {}", set_.config.name, adds_in_memory(adds_.mirror().unsaved(), *failure).reason);
}

void SetRefresher::leave() const {
  try {
    if (std::filesystem::exists(set_.publishing.directory + "/" + set_.config.name)) live_.lock().leave();
  } catch (const std::exception& error) {
    spdlog::warn("{}: cannot be marked as not configured: {}", set_.config.name, error.what());
  }
}

}  // namespace keysieve
