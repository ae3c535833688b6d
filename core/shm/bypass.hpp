// The switch for 3 a.m.: while a set is bypassed, every lookup answers maybe, from the reader's next call on.
#pragma once

#include <string>
#include <string_view>

#include "core/base/clock.hpp"

namespace keysieve {

// Until `until` (Unix seconds), or until cleared when that is 0. Needs no lock, so it works while a publisher
// runs or hangs, and survives its publications. Must run as the owner of the set's folder, or
// root. Throws
// MissingInputError when the set was never published here, PermissionError.
void set_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until);
void clear_bypass(const std::string& directory, std::string_view set_name);

}  // namespace keysieve
