#include "tools/loader/config/config.hpp"

#include <fmt/core.h>

#include "tools/program/accounts.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

std::string limit_text(std::uint64_t bytes) {
  return bytes == 0 ? "no limit" : format_bytes(bytes);
}

std::string interval_text(std::chrono::milliseconds interval) {
  if (interval.count() % 1000 != 0) return fmt::format("{}ms", interval.count());
  return format_duration(std::chrono::duration_cast<std::chrono::seconds>(interval));
}

std::string group_text(const std::optional<gid_t>& group) {
  return group ? ", group " + group_name(*group) : "";
}

std::string status_text(const std::optional<StatusConfig>& status) {
  if (!status) return "status off\n";
  return fmt::format("status {}{}\n", status->listen, group_text(status->group));
}

std::string signed_by_text(const PublicKeys& keys) {
  std::string text;
  for (const PublicKey& key : keys) text += (text.empty() ? ", signed by " : " or ") + to_hex(key);
  return text;
}

std::string set_text(const SetConfig& set) {
  const Guards& guards = set.guards;
  return fmt::format(
      "set {}: store {}{}; max_fpr {}, max_size {}, max_shrink {}, max_changed {}, min_keys {}, "
      "required_keys {}\n",
      set.name, set.store, signed_by_text(set.public_keys),
      guards.max_fpr ? format_share(*guards.max_fpr) : "no limit", limit_text(set.max_bytes),
      guards.max_shrink ? format_share(*guards.max_shrink) : "no limit", format_share(guards.max_changed),
      format_count(guards.min_keys), format_count(guards.required_keys.size()));
}

// With room for one more window, in which the next one begins.
std::uint64_t bytes_of(const SeenConfig& seen) {
  return seen_plan(seen, {}).segment_bytes() * (seen.windows + 1);
}

std::string seen_text(const SeenConfig& seen) {
  const SeenSize size = seen_plan(seen, {}).size;
  return fmt::format(
      "seen {}: {} in each of {} of {}, fpr {}: {}, {} bits per key; on_unavailable {}{}, {}\n", seen.name,
      format_count_of(seen.keys, "key"), format_count_of(seen.windows, "window"),
      format_duration(seen.window), format_share(seen.fpr), format_bytes(bytes_of(seen)),
      format_count(size.words * kWordBits / seen.keys), to_string(seen.on_unavailable),
      group_text(seen.group),
      seen.store.empty() ? "not saved"
                         : fmt::format("saved in {} every {}, as host {}", seen.store,
                                       interval_text(seen.save_interval), seen.host));
}

}  // namespace

std::string summary_text(const LoaderConfig& config) {
  std::string text = fmt::format(
      "directory {}\ncache {}\ngroup {}\npoll_interval {}\nmax_total_size {}\nlog_level {}\n",
      config.directory, config.cache, config.group ? group_name(*config.group) : "as the directory gives it",
      interval_text(config.poll_interval), limit_text(config.max_total_bytes), config.log_level);
  text += status_text(config.status);
  for (const StoreConfig& store : config.stores)
    text += fmt::format("store {}: {}, asked every {}\n", store.name, store.shown,
                        interval_text(store.poll_interval));
  for (const SetConfig& set : config.sets) text += set_text(set);
  for (const SeenConfig& seen : config.seen) text += seen_text(seen);
  return text;
}

}  // namespace keysieve
