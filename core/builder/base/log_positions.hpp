// Makes and reads positions in an adds log.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/worker/base/log_position.hpp"

namespace keysieve {

LogPosition log_position(std::uint64_t milliseconds, std::uint64_t number) noexcept;
std::uint64_t milliseconds_of(const LogPosition& position) noexcept;
std::uint64_t number_of(const LogPosition& position) noexcept;

// "<milliseconds>-<number>", as XADD prints it.
std::string to_text(const LogPosition& position);
// Returns nothing for text of another form.
std::optional<LogPosition> parse_log_position(std::string_view text) noexcept;

// The position right before this one. Nothing is before all zero, which is returned as it is.
LogPosition position_before(const LogPosition& position) noexcept;

// The position of the next entry: now, or right after `last` if the clock has not moved on or went back.
LogPosition next_log_position(const LogPosition& last, std::uint64_t now_milliseconds) noexcept;

}  // namespace keysieve
