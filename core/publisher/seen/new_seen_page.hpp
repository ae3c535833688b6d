#pragma once

#include <vector>

#include "core/worker/seen/seen_page.hpp"

namespace keysieve {

// The bytes of a page without filters.
std::vector<std::byte> new_seen_page(const HashSeed& seed, OnUnavailable on_unavailable);

}  // namespace keysieve
