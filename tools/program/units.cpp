#include "tools/program/units.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <limits>
#include <span>

#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t size;
};

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kSecond = 1000;  // durations are parsed in milliseconds

constexpr std::array<Unit, 8> kByteUnits{{{"", 1},
                                          {"KiB", kKiB},
                                          {"MiB", kKiB* kKiB},
                                          {"GiB", kKiB* kKiB* kKiB},
                                          {"k", kKiB},
                                          {"K", kKiB},
                                          {"M", kKiB* kKiB},
                                          {"G", kKiB* kKiB* kKiB}}};

constexpr std::array<Unit, 5> kDurationUnits{
    {{"ms", 1}, {"s", kSecond}, {"m", 60 * kSecond}, {"h", 3600 * kSecond}, {"d", 86400 * kSecond}}};

[[noreturn]] void refuse(std::string_view text, std::string_view accepted) {
  throw Error(ErrorKind::Usage, fmt::format("\"{}\" is not understood: {}", text, accepted));
}

// A whole number followed by one of the units; nothing when it is something else or over 63 bits.
std::optional<std::uint64_t> parse_amount(std::string_view text, std::span<const Unit> units) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  for (const Unit& unit : units) {
    if (unit.name == suffix) {
      return number <= kLargest / unit.size ? std::optional(number * unit.size) : std::nullopt;
    }
  }
  return std::nullopt;
}

constexpr double kLeastShare = 1e-10;    // a tenth of the lowest target FPR
constexpr double kMostBitsPerKey = 100;  // more tells of the header and of an unfilled shard

constexpr const char* kMomentFormat = "%Y-%m-%dT%H:%M:%SZ";

}  // namespace

std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_one = error == std::errc{} && end == text.data() + text.size() && number <= most;
  return is_one ? std::optional(number) : std::nullopt;
}

std::uint64_t parse_count(std::string_view text) {
  if (const auto count = whole_number(text, INT64_MAX)) return *count;
  refuse(text, "a count is a whole number, such as 80000");
}

std::uint64_t parse_key_count(std::string_view text) {
  constexpr std::array<Unit, 3> kThousands{{{"", 1}, {"k", 1000}, {"M", 1'000'000}}};
  if (const auto count = parse_amount(text, kThousands)) return *count;
  refuse(text, "a number of keys is a whole number, or one with k or M, such as 80000, 80k or 5M");
}

std::uint64_t parse_bytes(std::string_view text) {
  if (const auto bytes = parse_amount(text, kByteUnits)) return *bytes;
  refuse(text, "a size is a whole number of bytes, or one with KiB, MiB or GiB, such as 4096 or 64MiB");
}

std::chrono::milliseconds parse_duration(std::string_view text) {
  if (const auto amount = parse_amount(text, kDurationUnits)) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(*amount));
  }
  refuse(text, "a duration is a whole number with its unit, ms, s, m, h or d, such as 500ms or 2d");
}

double parse_share(std::string_view text) {
  constexpr std::string_view kAccepted =
      "it must be between 0 and 1, or between 0% and 100%, such as 0.2 or 20%";
  long double share = 0;  // in which 1e-7 % is 1e-9 after rounding; a double would be a little less
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (error != std::errc{}) refuse(text, kAccepted);
  const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
  if (suffix == "%" || suffix == " %") {
    share /= 100;
  } else if (!suffix.empty()) {
    refuse(text, kAccepted);
  }
  if (!(share >= 0 && share <= 1)) refuse(text, kAccepted);
  return static_cast<double>(share);
}

UnixSeconds parse_moment(std::string_view text) {
  if (text == "now") return unix_now();
  if (text.starts_with('@')) {
    if (const auto moment = whole_number(text.substr(1), INT64_MAX)) return static_cast<UnixSeconds>(*moment);
  } else {
    std::tm parts{};
    const std::string terminated(text);
    if (::strptime(terminated.c_str(), kMomentFormat, &parts) != nullptr) {
      const UnixSeconds seconds = ::timegm(&parts);
      // strptime is lenient; only what is written back the same was a date.
      if (seconds >= 0 && format_moment(seconds) == text) return seconds;
    }
  }
  refuse(text, "a moment is \"now\", Unix seconds such as @1700000000, or UTC such as 2026-11-21T07:00:00Z");
}

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < kKiB) return fmt::format("{} B", bytes);
  constexpr std::array kNames{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto amount = static_cast<double>(bytes) / kKiB;
  std::size_t unit = 0;
  // 1023.95 would be written as "1024.0".
  for (; amount >= 1023.95 && unit + 1 < kNames.size(); ++unit) amount /= kKiB;
  return fmt::format("{:.1f} {}", amount, kNames[unit]);
}

std::string format_duration(std::chrono::seconds duration) {
  constexpr std::array<Unit, 4> kUnits{{{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}}};
  if (duration.count() < 0) return "-" + format_duration(-duration);
  auto rest = static_cast<std::uint64_t>(duration.count());
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    if (rest < kUnits[i].size && kUnits[i].size > 1) continue;
    std::string text = fmt::format("{}{}", rest / kUnits[i].size, kUnits[i].name);
    rest %= kUnits[i].size;
    if (i + 1 < kUnits.size() && rest >= kUnits[i + 1].size) {
      text += fmt::format(" {}{}", rest / kUnits[i + 1].size, kUnits[i + 1].name);
    }
    return text;
  }
  return "0s";
}

std::string format_moment(UnixSeconds moment) {
  const std::time_t seconds = moment;
  std::tm parts{};
  std::array<char, 64> text{};
  if (::gmtime_r(&seconds, &parts) == nullptr ||
      std::strftime(text.data(), text.size(), kMomentFormat, &parts) == 0) {
    return fmt::format("@{}", moment);
  }
  return text.data();
}

std::string format_share(double share) {
  const double percent = share * 100;
  if (!(percent > 0)) return "0 %";
  if (share < kLeastShare) return fmt::format("below {:.8f} %", kLeastShare * 100);
  const int decimals = std::clamp(2 - static_cast<int>(std::floor(std::log10(percent))), 0, 10);
  return fmt::format("{:.{}f} %", share < 1 ? std::min(percent, 99.9) : percent, decimals);  // no "100.0 %"
}

std::string format_bits_per_key(double bits) {
  return bits > kMostBitsPerKey ? fmt::format("over {:.0f}", kMostBitsPerKey) : fmt::format("{:.2f}", bits);
}

std::string format_count(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string format_count_of(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", format_count(count), noun, count == 1 ? "" : "s");
}

}  // namespace keysieve
