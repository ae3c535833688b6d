#include "core/worker/base/set_name.hpp"

#include <algorithm>

#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

}  // namespace

bool is_set_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > kMaxSetNameBytes || !is_lower_or_digit(name.front())) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return is_lower_or_digit(c) || c == '_' || c == '-'; });
}

std::string checked_set_name(std::string_view name) {
  if (is_set_name(name)) return std::string(name);
  throw Error(ErrorKind::Usage,
              "set name \"" + std::string(name) +
                  "\" is not valid: 1 to 64 characters a-z, 0-9, _ or -, beginning with a letter or digit");
}

}  // namespace keysieve
