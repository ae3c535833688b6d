// Numbers and ids as the hexadecimal text of records.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/snapshot/layout.hpp"

namespace keysieve {

// 16 lower-case digits.
std::string to_hex(std::uint64_t number);
// Nothing unless it is exactly what to_hex() writes: of a number, of a build id or push id.
std::optional<std::uint64_t> parse_hex(std::string_view text);
std::optional<std::array<std::uint8_t, 16>> parse_id(std::string_view text);

}  // namespace keysieve
