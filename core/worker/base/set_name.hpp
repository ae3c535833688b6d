// The name of a set: [a-z0-9][a-z0-9_-]{0,63}. It becomes a folder name and part of store keys, so nothing
// else may pass.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace keysieve {

inline constexpr std::size_t kMaxSetNameBytes = 64;

[[nodiscard]] bool is_set_name(std::string_view name) noexcept;

// Returns the name; throws Usage that says what is allowed.
std::string checked_set_name(std::string_view name);

}  // namespace keysieve
