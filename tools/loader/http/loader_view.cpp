#include "tools/loader/http/loader_view.hpp"

#include <algorithm>
#include <cmath>

#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

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

std::size_t bin_of(double value, const ShardDistribution& distribution) {
  const std::size_t count = distribution.bins.size();
  const double width = (distribution.highest - distribution.lowest) / static_cast<double>(count);
  if (width <= 0) return count / 2;
  return std::min(static_cast<std::size_t>((value - distribution.lowest) / width), count - 1);
}

ShardDistribution shard_distribution(const SnapshotView& snapshot) {
  const ShardArray& shards = snapshot.shards();
  ShardDistribution distribution;
  distribution.is_of_fill_ratios = snapshot.kind().fill_ratio != nullptr;
  distribution.shard_count = shards.shard_count;
  if (shards.shard_count == 0) return distribution;
  // Few shards in many bins would look like a comb.
  distribution.bins.resize(static_cast<std::size_t>(std::clamp(2 * std::sqrt(shards.shard_count), 12., 32.)));
  std::vector<float> values(shards.shard_count);
  double sum = 0;
  for (std::uint32_t i = 0; i < shards.shard_count; ++i) {
    const double value = snapshot.fill_ratio(i).value_or(shards.entries[i].key_count);
    values[i] = static_cast<float>(value);
    sum += value;
  }
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  distribution.lowest = *lowest;
  distribution.highest = *highest;
  distribution.mean = sum / static_cast<double>(shards.shard_count);
  for (const float value : values) ++distribution.bins[bin_of(value, distribution)];
  return distribution;
}

// With a new reader each time: one that stays attached would pin publications that were replaced.
LoadedSet look_at(const std::string& directory, std::shared_ptr<const SetReport> report, UnixSeconds now,
                  KnownDistributions& known) {
  SetReader reader({.directory = directory}, report->name);
  reader.follow();
  LoadedSet set{set_facts(reader, now, Reading::Layer), std::move(report)};
  if (set.loader->waiting_since) set.store_lag_seconds = seconds_since(*set.loader->waiting_since);
  const Attachment* attached = reader.attachment();
  if (attached == nullptr) return set;
  auto& [id, distribution] = known[set.name];
  if (!distribution || id != attached->id()) {
    distribution = std::make_shared<const ShardDistribution>(shard_distribution(attached->snapshot()));
    id = attached->id();
  }
  set.shards = distribution;
  return set;
}

}  // namespace

LoaderView view_of(std::shared_ptr<const LoaderReport> loader, const Heartbeat& heartbeat,
                   UnixSeconds started_at, KnownDistributions& known) {
  LoaderView view{.host = own_host_name(),
                  .now = unix_now(),
                  .started_at = started_at,
                  .loader = std::move(loader),
                  .heartbeat = heartbeat};
  const std::string& directory = view.loader->directory;
  try {
    view.directory = directory_status(directory);
  } catch (const Error&) {  // it cannot be read
  }
  for (const auto& report : view.loader->sets)
    view.sets.push_back(look_at(directory, report, view.now, known));
  for (const SeenReport& report : view.loader->seen)
    view.seen.push_back({seen_if_readable(directory, report.name, view.now), report});
  return view;
}

}  // namespace keysieve
