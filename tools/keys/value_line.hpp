// One line of a list of values: a key, a TAB, and its value; or more columns. A key cannot hold a TAB.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace keysieve {

struct ValueLine {
  std::string_view key;  // in the line
  std::uint32_t value = 0;
};

// `column` of the value, from 2 on. Throws Data that begins with `source` and shows the line.
ValueLine parse_value_line(std::string_view line, unsigned column, const std::string& source);

}  // namespace keysieve
