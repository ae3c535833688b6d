#include "tools/transfer/hex.hpp"

#include <fmt/core.h>

#include <charconv>

namespace keysieve {

std::string to_hex(std::uint64_t number) {
  return fmt::format("{:016x}", number);
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return to_hex(number) == text ? std::optional(number) : std::nullopt;
}

std::optional<std::array<std::uint8_t, 16>> parse_id(std::string_view text) {
  std::array<std::uint8_t, 16> id{};
  for (std::size_t i = 0; i < id.size() && 2 * i + 2 <= text.size(); ++i) {
    std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, id[i], 16);
  }
  return to_hex(id) == text ? std::optional(id) : std::nullopt;
}

}  // namespace keysieve
