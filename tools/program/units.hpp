// Counts, sizes, durations, moments and shares as people write them on the command line and in the
// configuration. All that is called parse throws Usage that quotes the text and says what is accepted.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/worker/base/clock.hpp"

namespace keysieve {

// Nothing unless the text is a whole number from 0 to `most`, without a sign.
std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t most = UINT64_MAX);

std::uint64_t parse_count(std::string_view text);      // "80000", no sign
std::uint64_t parse_key_count(std::string_view text);  // also "80k" and "5M"
std::uint64_t parse_bytes(std::string_view text);  // "4096", "4KiB", "64MiB", "1GiB"; also "4k", "64M", "1G"
std::chrono::milliseconds parse_duration(std::string_view text);  // "500ms", "5s", "10m", "2h", "2d"
double parse_share(std::string_view text);                        // "20%" or "0.2"; 0 to 1
UnixSeconds parse_moment(std::string_view text);  // "now", "@1700000000", "2026-11-21T07:00:00Z" (UTC)

std::string format_bytes(std::uint64_t bytes);               // "4.0 KiB"
std::string format_duration(std::chrono::seconds duration);  // "2d 3h", "45s"
std::string format_moment(UnixSeconds moment);               // "2026-11-21T07:00:00Z"
std::string format_share(double share);         // "1.02 %", "0.000100 %", and for less "below 0.00000001 %"
std::string format_bits_per_key(double bits);   // "6.75"; "over 100" for a set that is mostly header
std::string format_count(std::uint64_t count);  // "1,234,567"
std::string format_count_of(std::uint64_t count, std::string_view noun);  // "1 key", "1,234 keys"

}  // namespace keysieve
