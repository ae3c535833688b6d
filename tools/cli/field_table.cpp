#include "tools/cli/field_table.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "tools/program/units.hpp"

namespace keysieve {
namespace {

// By the longest unit alone: "3d ago", "in 2h".
std::string ago(UnixSeconds moment, UnixSeconds now) {
  const std::string span = format_duration(std::chrono::seconds(std::abs(now - moment)));
  const std::string longest_unit = span.substr(0, span.find(' '));
  return moment > now ? "in " + longest_unit : longest_unit + " ago";
}

}  // namespace

std::string cell_of(Unit unit, const Json& value, UnixSeconds now) {
  if (value.is_null()) return "-";
  switch (unit) {
    case Unit::Plain:
    case Unit::State:
      break;
    case Unit::Count:
      return format_count(value.get<std::uint64_t>());
    case Unit::Estimate:
      return "≈ " + format_count(value.get<std::uint64_t>());
    case Unit::Bits:
      return format_count_of(value.get<std::uint64_t>(), "bit");
    case Unit::Size:
      return format_bytes(value.get<std::uint64_t>());
    case Unit::Share:
      return format_share(value.get<double>());
    case Unit::Generation:
      return value == 0 ? "file" : value.dump();
    case Unit::Age:
    case Unit::Until:
      return ago(value.get<UnixSeconds>(), now);
    case Unit::Moment:
      return format_moment(value.get<UnixSeconds>());
    case Unit::Codes:
      return value.empty() ? "none"
                           : fmt::format("{}", fmt::join(value.get<std::vector<std::string>>(), ","));
  }
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace keysieve
