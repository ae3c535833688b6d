#include "core/builder/base/log_positions.hpp"

#include <charconv>

namespace keysieve {
namespace {

constexpr int kBytesPerNumber = 8;

void store_big_endian(std::uint8_t* at, std::uint64_t value) noexcept {
  for (int i = kBytesPerNumber - 1; i >= 0; --i, value >>= 8) at[i] = static_cast<std::uint8_t>(value);
}

std::uint64_t load_big_endian(const std::uint8_t* at) noexcept {
  std::uint64_t value = 0;
  for (int i = 0; i < kBytesPerNumber; ++i) value = value << 8 | at[i];
  return value;
}

bool parse_number(std::string_view text, std::uint64_t& number) noexcept {
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc{} && parsed.ptr == end;
}

}  // namespace

LogPosition log_position(std::uint64_t milliseconds, std::uint64_t number) noexcept {
  LogPosition position;
  store_big_endian(position.data(), milliseconds);
  store_big_endian(position.data() + kBytesPerNumber, number);
  return position;
}

std::uint64_t milliseconds_of(const LogPosition& position) noexcept {
  return load_big_endian(position.data());
}

std::uint64_t number_of(const LogPosition& position) noexcept {
  return load_big_endian(position.data() + kBytesPerNumber);
}

std::string to_text(const LogPosition& position) {
  return std::to_string(milliseconds_of(position)) + "-" + std::to_string(number_of(position));
}

std::optional<LogPosition> parse_log_position(std::string_view text) noexcept {
  const std::size_t dash = text.find('-');
  std::uint64_t milliseconds = 0;
  std::uint64_t number = 0;
  if (dash == std::string_view::npos || !parse_number(text.substr(0, dash), milliseconds) ||
      !parse_number(text.substr(dash + 1), number)) {
    return std::nullopt;
  }
  return log_position(milliseconds, number);
}

LogPosition position_before(const LogPosition& position) noexcept {
  LogPosition before = position;
  if (position == LogPosition{}) return before;
  auto byte = before.rbegin();
  while ((*byte)-- == 0) ++byte;
  return before;
}

LogPosition next_log_position(const LogPosition& last, std::uint64_t now_milliseconds) noexcept {
  if (now_milliseconds > milliseconds_of(last)) return log_position(now_milliseconds, 0);
  const std::uint64_t number = number_of(last) + 1;
  return log_position(milliseconds_of(last) + (number == 0 ? 1 : 0), number);
}

}  // namespace keysieve
