#include "tools/loader/http/loader_view.hpp"

#include <bit>
#include <chrono>
#include <cmath>
#include <functional>

#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

std::optional<DirectoryStatus> directory_if_readable(const std::string& directory) {
  try {
    return directory_status(directory);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Missing while the directory itself cannot be read.
SeenSetFacts seen_if_readable(const std::string& directory, const std::string& name, UnixSeconds now) {
  try {
    return seen_set_facts(directory, name, now);
  } catch (const Error& error) {
    SeenSetFacts set;
    set.name = name;
    set.reason = error.what();
    return set;
  }
}

constexpr UnixSeconds kOldKeys = UnixSeconds{48} * 3600;

// What alerts.yml asks beside availability, trouble and age, with the same figures.
bool is_beyond_limits(const LoadedSet& set, const LoaderView& view) noexcept {
  const SetReport& report = *set.loader;
  if (report.damages != 0 || std::abs(report.key_change.value_or(0)) > 0.5 ||
      store_lag_seconds(report, view.steady_now) > 600)
    return true;
  if (!set.published) return false;
  const LivePublication& live = *set.published;
  const UnixSeconds left = live.valid_until - view.now;
  const double layer_fpr = live.layer_fill ? live.layer_fill->estimated_fpr : 0;
  return (live.valid_until != 0 && left < (live.valid_until - live.as_of) / 4) ||
         (live.last_confirmed != 0 && view.now - live.last_confirmed > 3600) ||
         (report.max_fpr && live.estimated_fpr + layer_fpr > *report.max_fpr);
}

}  // namespace

double store_lag_seconds(const SetReport& report, SteadyTime now) noexcept {
  if (!report.waiting_since) return 0;
  return std::chrono::duration<double>(now - *report.waiting_since).count();
}

Verdict verdict_of(const LoadedSet& set) noexcept {
  if (set.availability != Availability::Ready && set.availability != Availability::Bypassed)
    return Verdict::Bad;
  const Trouble trouble = set.loader->diagnosis.trouble;
  const bool is_new = trouble == Trouble::NotAsked;
  const bool is_good = set.availability == Availability::Ready &&
                       (is_new || (trouble == Trouble::None && set.loader->cache_trouble.empty()));
  return is_good ? Verdict::Good : Verdict::Notice;
}

Urgency urgency_of(const LoadedSet& set, const LoaderView& view) noexcept {
  Urgency urgency{.verdict = verdict_of(set),
                  .trouble = set.loader->diagnosis.trouble,
                  .is_not_cached = !set.loader->cache_trouble.empty(),
                  .is_beyond_limits = is_beyond_limits(set, view)};
  if (urgency.verdict == Verdict::Good) urgency.trouble = Trouble::None;  // not asked yet
  if (set.published && set.published->valid_until == 0) {
    const UnixSeconds age = std::max<UnixSeconds>(0, view.now - set.published->as_of);
    urgency.age_step = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(age / kOldKeys)));
  }
  return urgency;
}

LoaderView LoaderViewer::look(Shards shards, std::size_t page) {
  LoaderView view{.now = unix_now(),
                  .steady_now = std::chrono::steady_clock::now(),
                  .loader = board_.read(),
                  .heartbeat = {},
                  .directory = {},
                  .sets = {},
                  .seen = {},
                  .page = 1};
  view.heartbeat = heartbeat_of(view.loader, view.steady_now, limits_);
  view.directory = directory_if_readable(view.loader.directory);
  for (const auto& report : view.loader.sets) {
    view.sets.push_back(look_at(view.loader.directory, report, Shards::Skip, view.now));
  }
  view.page = std::clamp<std::size_t>(page, 1, view.pages());
  if (shards == Shards::Read) {
    std::ranges::stable_sort(view.sets, std::ranges::greater{},
                             [&](const LoadedSet& set) { return urgency_of(set, view); });
    const std::size_t first = (view.page - 1) * LoaderView::kSetsPerPage;
    for (std::size_t i = first; i < first + view.page_sets().size(); ++i) {
      view.sets[i] = look_at(view.loader.directory, view.sets[i].loader, shards, view.now);
    }
  }
  for (const SeenReport& report : view.loader.seen) {
    view.seen.push_back({seen_if_readable(view.loader.directory, report.name, view.now), report});
  }
  return view;
}

// With a new reader each time: one that stays attached would pin publications that were replaced.
LoadedSet LoaderViewer::look_at(const std::string& directory, std::shared_ptr<const SetReport> report,
                                Shards shards, UnixSeconds now) {
  SetReader reader({.directory = directory, .max_jitter = std::chrono::milliseconds(0)}, report->name);
  reader.follow();
  LoadedSet set{set_facts(reader, now, Reading::Layer), std::move(report), nullptr};
  if (shards == Shards::Read && reader.attachment() != nullptr) {
    set.shards = distributions_[set.name].of(*reader.attachment());
  }
  return set;
}

}  // namespace keysieve
