#include "tools/status/seen_status.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/publisher/shm/publisher_folder.hpp"
#include "tools/program/optional_json.hpp"
#include "tools/status/directory_status.hpp"
#include "tools/status/set_status.hpp"

namespace keysieve {
std::vector<std::string> seen_sets_in(const std::string& directory) {
  const std::string folder = seen_directory(directory);
  std::error_code failure;
  if (!std::filesystem::exists(folder, failure)) return {};
  return sets_in(folder);
}

SeenReader seen_status_reader(const std::string& directory, const std::string& set_name) {
  return {{.directory = directory, .trusted_owner = trusted_owner_of(directory, std::string(kSeenFolder))},
          set_name};
}

SeenStatus seen_status(const std::string& directory, const std::string& set_name, UnixSeconds now) {
  SeenReader reader = seen_status_reader(directory, set_name);
  reader.follow();
  SeenStatus status;
  status.name = set_name;
  status.availability = reader.availability();
  status.reason = reader.reason();
  if (reader.page() != nullptr) {
    const SeenPage& page = *reader.page();
    status.troubles = troubles_of_loader(Troubles(page.troubles.load(std::memory_order_relaxed)),
                                         page.next_look.load(std::memory_order_relaxed), now);
    status.on_unavailable = reader.on_unavailable();
    status.looked_at = reader.page()->looked_at.load(std::memory_order_relaxed);
  }
  const bool is_bypassed = status.availability == Availability::Bypassed;
  if (is_bypassed) status.bypass_until = reader.page()->bypass_until.load(std::memory_order_relaxed);
  if (reader.is_ready() || is_bypassed) {
    status.live = seen_facts(reader);
  } else {
    status.troubles.insert(status.troubles.begin(), to_string(Trouble::SeenMissing));
  }
  return status;
}

nlohmann::ordered_json to_json(const SeenStatus& status) {
  using Json = nlohmann::ordered_json;
  Json json = {{"set", status.name},
               {"availability", to_string(status.availability)},
               {"reason", status.reason.empty() ? Json() : Json(status.reason)},
               {"bypass", status.availability == Availability::Bypassed},
               {"bypass_until", status.bypass_until == 0 ? Json() : Json(status.bypass_until)},
               {"on_unavailable", status.on_unavailable ? Json(to_string(*status.on_unavailable)) : Json()},
               {"looked_at", status.looked_at == 0 ? Json() : Json(status.looked_at)},
               {"troubles", status.troubles}};
  if (!status.live) return json;
  const SeenFacts& live = *status.live;
  json.update({{"windows", live.windows},
               {"filters", live.filters},
               {"estimated_window_keys", live.keys},
               {"window_capacity", live.capacity},
               {"estimated_fpr", live.estimated_fpr},
               {"target_fpr", live.target_fpr},
               {"bytes", live.bytes},
               {"oldest_begins_at", live.oldest_begins},
               {"window_begins_at", live.newest_begins},
               {"window_ends_at", live.newest_ends}});
  return json;
}

}  // namespace keysieve
