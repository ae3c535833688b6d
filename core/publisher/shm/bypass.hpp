// The emergency switch: while a set is bypassed, every lookup answers maybe, from the reader's next call on.
// There are two independent switches: an operator's on this host, and one in the store.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/worker/base/clock.hpp"

namespace keysieve {

// The operator's switch. Lasts until `until` (Unix seconds), or until cleared when that is 0. Needs no lock,
// so it works while a publisher runs or hangs, and survives its publications. Must run as the owner of the
// set's folder, or root. Throws MissingInput when the set was never published here, Permission.
void set_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until);
void clear_bypass(const std::string& directory, std::string_view set_name);

// The same for the switch in the store, which the loader applies here. The set is bypassed while either is
// on.
void set_store_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until);
void clear_store_bypass(const std::string& directory, std::string_view set_name);

// The owner that these functions trust with the folder <directory>/<set>. Root may switch in a folder that
// was given to another user with all its files: workers that have it mapped still answer from it.
std::optional<uid_t> owner_to_trust(const std::string& directory, const std::string& set_name);

}  // namespace keysieve
