#include "tools/loader/seen/seen_exchange.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/random.hpp"

namespace keysieve {
namespace {

// The filter of that name, by its number; nothing if there is none.
std::optional<std::uint32_t> number_of(const SeenWriter& writer, const FilterId& id) {
  const SeenState all = writer.state();
  for (std::uint32_t number = all.first; number != all.end; ++number) {
    if (id_of(writer.entry(number).plan) == id) return number;
  }
  return std::nullopt;
}

// What was saved may be old: the last window counts as one that ended as planned.
void forget_expired(std::vector<SavedFilter>& filters, UnixSeconds now) {
  const auto plan_of = [&](std::uint32_t number) -> const SeenPlan& { return filters[number].plan; };
  const auto end = static_cast<std::uint32_t>(filters.size());
  std::vector<SavedFilter> live;
  for (std::uint32_t number = 0; number != end; ++number) {
    const SeenWindow& window = filters[number].plan.window;
    if (end_of_window(number, end, plan_of).value_or(window.ends) + window.kept_for > now)
      live.push_back(filters[number]);
  }
  filters = std::move(live);
}

}  // namespace

std::optional<SeenExchange::Found> SeenExchange::find(Store& store, UnixSeconds now) const {
  std::vector<std::string> hosts{config_.host};
  hosts.insert(hosts.end(), config_.other_hosts.begin(), config_.other_hosts.end());
  for (const std::string& host : hosts) {
    try {
      SavedFilters saved = saved_by(store, host).list();
      forget_expired(saved.filters, now);
      if (!saved.filters.empty()) return Found{std::move(saved), host};
    } catch (const Error& damage) {  // as one that is lost
      if (damage.kind() != ErrorKind::Data) throw;
      spdlog::error("{}: {}", config_.name, damage.what());
    }
  }
  return std::nullopt;
}

std::uint64_t SeenExchange::restore(Store& store, const Found& found, const SeenWindow& window,
                                    SeenWriter& writer) const {
  std::vector<SeenPlan> plans;
  plans.reserve(found.saved.filters.size() + 1);
  for (const SavedFilter& filter : found.saved.filters) plans.push_back(filter.plan);
  if (plans.back().window.ends < window.ends && plans.size() < kMaxSeenFilters)
    plans.push_back(seen_plan(config_, window));
  writer.create(found.saved.seed, config_.on_unavailable);
  const SavedSet saved = saved_by(store, found.host);
  std::uint64_t lost = 0;
  writer.append(plans, [&](std::size_t index, const SeenFilter& filter) {
    if (index == found.saved.filters.size()) return;
    const SavedFilter& one = found.saved.filters[index];
    const std::uint64_t shards = saved.add_to(filter, one);
    if (!on_progress_()) throw Error(ErrorKind::Superseded, "told to stop before all was restored");
    lost += one.shards - std::min(one.shards, shards);
  });
  return lost;
}

SavedSet SeenExchange::saved_by(Store& store, const std::string& host) const {
  return {store, config_.name, host, on_progress_};
}

// The list names a filter before the first of its shards is there and until the last one is gone, so that no
// record is forgotten.
std::uint64_t SeenExchange::save(Store& store, const SeenWriter& writer) {
  const SavedSet saved = saved_by(store, config_.host);
  compare_with(store, saved);
  remove_expired(saved, writer);
  if (!on_progress_()) return 0;
  put_list(saved, writer);
  std::uint64_t written = 0;
  const SeenState all = writer.state();
  for (std::uint32_t number = all.first; number != all.end; ++number) {
    const SeenPlan plan = writer.entry(number).plan;
    Known& known = known_of(plan);
    const std::uint64_t of_filter = saved.put_changed(id_of(plan), writer.filter(number), known.checksums);
    if (of_filter != 0) known.version = random_value<std::uint64_t>();
    written += of_filter;
  }
  put_list(saved, writer);
  return written;
}

// After a restart, and when the store has lost records or another loader writes them, all is saved again.
void SeenExchange::compare_with(Store& store, const SavedSet& saved) {
  SavedFilters stored;
  try {
    stored = saved.list();
  } catch (const Error& damage) {
    if (damage.kind() != ErrorKind::Data) throw;
    spdlog::error("{}: {}", config_.name, damage.what());
  }
  if (stored == listed_) return;
  if (!known_.empty()) {
    spdlog::warn(
        "{}: {} does not hold what was saved: all is saved again. Does another loader save as host {}?",
        config_.name, store.name(), config_.host);
  }
  known_.clear();
  for (const SavedFilter& filter : listed_.filters) {
    if (std::ranges::count(stored.filters, filter.id(), &SavedFilter::id) == 0)
      stored.filters.push_back(filter);  // its shards may be there
  }
  listed_ = std::move(stored);
}

void SeenExchange::remove_expired(const SavedSet& saved, const SeenWriter& writer) {
  for (const SavedFilter& filter : listed_.filters) {
    if (number_of(writer, filter.id())) continue;
    saved.remove_shards(filter);
    known_.erase(filter.id());
  }
}

void SeenExchange::put_list(const SavedSet& saved, const SeenWriter& writer) {
  SavedFilters list{writer.page().seed, {}};
  const SeenState all = writer.state();
  for (std::uint32_t number = all.first; number != all.end; ++number) {
    const SeenPlan& plan = writer.entry(number).plan;
    const Known& known = known_of(plan);
    const auto shards = known.checksums.size() -
                        static_cast<std::size_t>(std::ranges::count(known.checksums, std::uint64_t{0}));
    list.filters.push_back({plan, known.version, shards});
  }
  if (list == listed_) return;
  saved.put_list(list);
  listed_ = std::move(list);
}

SeenExchange::Known& SeenExchange::known_of(const SeenPlan& plan) {
  Known& known = known_[id_of(plan)];
  known.checksums.resize(plan.size.shards());
  return known;
}

std::uint64_t SeenExchange::merge(Store& store, SeenWriter& writer) {
  std::uint64_t read = 0;
  std::optional<Error> failure;
  for (const std::string& host : config_.other_hosts) {
    try {
      if (on_progress_()) read += merge_host(store, host, writer);
    } catch (const Error& error) {
      if (error.is_outage()) throw;
      if (!failure) failure = error;
    }
  }
  std::erase_if(merged_, [&](const auto& one) { return !number_of(writer, one.first.second); });
  if (failure) throw Error(*failure);
  return read;
}

std::uint64_t SeenExchange::merge_host(Store& store, const std::string& host, SeenWriter& writer) {
  const SavedSet saved = saved_by(store, host);
  const SavedFilters list = saved.list();
  if (list.filters.empty()) return 0;
  if (list.seed != writer.page().seed) {
    throw Error(ErrorKind::Data, fmt::format("host {} has another seed: it began with another store", host));
  }
  std::optional<Error> failure;
  try {
    append_missing(list.filters, host, writer);
  } catch (const Error& error) {  // what is there can be merged
    failure = error;
  }
  std::uint64_t read = 0;
  for (const SavedFilter& filter : list.filters) {
    const auto number = number_of(writer, filter.id());
    if (!number || writer.entry(*number).plan.size != filter.plan.size) continue;
    std::uint64_t& version = merged_[{host, filter.id()}];
    if (version == filter.version) continue;
    read += saved.add_to(writer.filter(*number), filter);
    if (!on_progress_()) return read;
    version = filter.version;
  }
  if (failure) throw Error(*failure);
  return read;
}

// A filter as this host would make it: of a window that it has, or has had no time for.
SeenPlan SeenExchange::plan_of(const SeenWriter& writer, const FilterId& id) const {
  const auto first = number_of(writer, {id.window_ends, 0});
  SeenPlan plan = first ? writer.entry(*first).plan
                        : seen_plan(config_, seen_window(config_, id.window_ends - config_.window.count()));
  while (plan.growth < id.growth) plan = grown(plan);
  return plan;
}

// Windows in which this host's loader was stopped, and growth. The newest window must take the keys in the
// end, so it grows too if what is missing is of an older one.
void SeenExchange::append_missing(const std::vector<SavedFilter>& filters, const std::string& host,
                                  SeenWriter& writer) const {
  const SeenPlan newest = writer.entry(writer.state().end - 1).plan;
  std::vector<SeenPlan> missing;
  for (const SavedFilter& filter : filters) {
    const SeenPlan& plan = filter.plan;
    const bool is_live = plan.window.ends <= newest.window.ends &&
                         plan.window.ends + plan.window.kept_for > newest.window.begins;
    if (!is_live) continue;
    const auto number = number_of(writer, filter.id());
    const SeenPlan own = number ? writer.entry(*number).plan : plan_of(writer, filter.id());
    if (own.size != plan.size || id_of(own) != filter.id()) {
      throw Error(
          ErrorKind::Data,
          fmt::format("host {} has other filters: keys, window, windows and fpr must be the same", host));
    }
    if (!number) missing.push_back(own);
  }
  if (missing.empty()) return;
  std::ranges::sort(missing, {}, id_of);
  if (missing.back().window.ends != newest.window.ends) {
    if (newest.growth + 1 == kFiltersPerWindow) return;
    missing.push_back(grown(newest));
  }
  writer.append(missing);
}

}  // namespace keysieve
