#include "tools/loader/http/loader_view.hpp"

#include <chrono>

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

}  // namespace

double store_lag_seconds(const SetReport& report, SteadyTime now) noexcept {
  if (!report.waiting_since) return 0;
  return std::chrono::duration<double>(now - *report.waiting_since).count();
}

LoaderView LoaderViewer::look(Shards shards) {
  LoaderView view{.now = unix_now(),
                  .steady_now = std::chrono::steady_clock::now(),
                  .loader = board_.read(),
                  .heartbeat = {},
                  .directory = {},
                  .sets = {},
                  .seen = {}};
  view.heartbeat = heartbeat_of(view.loader, view.steady_now, limits_);
  view.directory = directory_if_readable(view.loader.directory);
  for (const auto& report : view.loader.sets) {
    view.sets.push_back(look_at(view.loader.directory, report, shards, view.now));
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
