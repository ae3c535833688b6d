#include "tools/loader/http/page/html_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "tools/program/units.hpp"

namespace keysieve {

std::string html_moment(UnixSeconds moment, std::string_view shown) {
  const std::string exact = format_moment(moment);
  return fmt::format("<time datetime=\"{}\" title=\"{}\">{}</time>", exact, exact, shown);
}

std::string html_ago(UnixSeconds moment, UnixSeconds now) {
  if (moment == 0) return "–";
  const auto age = std::chrono::seconds(std::max<UnixSeconds>(0, now - moment));
  return html_moment(moment, age.count() == 0 ? "now" : format_duration(age) + " ago");
}

std::string format_seconds(double seconds) {
  if (seconds < 0.001) return "< 1 ms";
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1000);
  return fmt::format("{:.1f} s", seconds);
}

std::string format_change(double share) {
  return fmt::format("{}{:.1f} %", share < 0 ? "−" : "+", std::abs(share) * 100);
}

}  // namespace keysieve
