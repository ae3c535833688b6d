#include "tools/status/seen_set_facts.hpp"

#include <filesystem>
#include <fstream>

#include "core/publisher/shm/publisher_folder.hpp"
#include "tools/status/set_facts.hpp"

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

SeenSetFacts seen_set_facts(const std::string& directory, const std::string& set_name, UnixSeconds now) {
  SeenReader reader = seen_status_reader(directory, set_name);
  reader.follow();
  SeenSetFacts set;
  set.name = set_name;
  set.availability = reader.availability();
  set.reason = reader.reason();
  if (reader.page() != nullptr) {
    const SeenPage& page = *reader.page();
    set.troubles = troubles_of_loader(Troubles(page.troubles.load(std::memory_order_relaxed)),
                                      page.next_look.load(std::memory_order_relaxed), now);
    set.on_unavailable = reader.on_unavailable();
    set.looked_at = reader.page()->looked_at.load(std::memory_order_relaxed);
  }
  const bool is_bypassed = set.availability == Availability::Bypassed;
  if (is_bypassed) set.bypass_until = reader.page()->bypass_until.load(std::memory_order_relaxed);
  if (reader.is_ready() || is_bypassed) {
    set.live = seen_facts(reader);
  } else {
    set.troubles.insert(set.troubles.begin(), to_string(Trouble::SeenMissing));
  }
  return set;
}

bool is_shm_rmid_forced() {
  int value = 0;
  return std::ifstream("/proc/sys/kernel/shm_rmid_forced") >> value && value != 0;
}

}  // namespace keysieve
