// keysieve delete for a seen set: it leaves this host, and the store in which it was saved.
#pragma once

#include <optional>
#include <string>

namespace keysieve {

struct DeleteSeenOptions {
  std::string set_name;
  std::string directory;
  std::optional<std::string> store_url;
  bool yes = false;
  bool json = false;
};

// Whether this host has a seen set of that name.
bool has_seen_set(const std::string& directory, const std::string& set_name);

// Returns the exit status. Throws Locked while a keysieved has the set configured, before anything is
// removed; MissingInput if there is nothing to remove.
int delete_seen_and_report(const DeleteSeenOptions& options);

}  // namespace keysieve
