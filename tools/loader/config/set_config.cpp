#include "tools/loader/config/set_config.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "core/worker/base/set_name.hpp"
#include "tools/program/units.hpp"

namespace keysieve {

KeyPattern SetPattern::names() const {
  const std::size_t star = each.name.find('*');
  return {.prefix = each.name.substr(0, star), .suffix = each.name.substr(star + 1)};
}

SetConfig SetPattern::config_of(const std::string& set_name) const {
  SetConfig set = each;
  set.name = set_name;
  set.is_found = true;
  return set;
}

std::string checked_set_name_or_pattern(const std::string& text) {
  if (!is_set_pattern(text)) return checked_set_name(text);
  std::string name = text;
  std::ranges::replace(name, '*', 'a');
  if (std::ranges::count(text, '*') == 1 && is_set_name(name)) return text;
  throw Error(ErrorKind::Usage,
              fmt::format("pattern \"{}\" is not valid: the name of a set with one * in it", text));
}

std::size_t checked_max_sets(const std::string& text) {
  const std::uint64_t count = parse_key_count(text);
  if (count >= 1 && count <= SetPattern::kLargestMaxSets) return count;
  throw Error(ErrorKind::Usage, fmt::format("\"{}\" is out of range: 1 to {}", text,
                                            format_count(SetPattern::kLargestMaxSets)));
}

}  // namespace keysieve
