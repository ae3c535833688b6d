#include "tools/keys/value_line.hpp"

#include <algorithm>
#include <charconv>

#include "core/worker/base/error.hpp"
#include "tools/program/printable.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kShownBytes = 80;

[[noreturn]] void refuse(std::string_view line, const std::string& source, const std::string& reason) {
  std::string shown(line);
  std::ranges::replace(shown, '\t', ' ');
  throw Error(ErrorKind::Data, source + ": " + quoted(shown, kShownBytes) + " " + reason);
}

}  // namespace

ValueLine parse_value_line(std::string_view line, unsigned column, const std::string& source) {
  const std::size_t key_end = line.find('\t');
  std::string_view rest = line;
  for (unsigned i = 1; i < column; ++i) {
    const std::size_t tab = rest.find('\t');
    if (tab == std::string_view::npos) {
      refuse(line, source,
             "has no column " + std::to_string(column) + ": a key, a TAB and its value are wanted");
    }
    rest.remove_prefix(tab + 1);
  }
  const std::string_view text = rest.substr(0, rest.find('\t'));
  ValueLine parsed{.key = line.substr(0, key_end)};
  if (parsed.key.empty()) refuse(line, source, "has no key before its first TAB");
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), parsed.value);
  if (failure != std::errc() || end != text.data() + text.size()) {
    refuse(line, source,
           "has the value " + quoted(text, kShownBytes) + ", which is not a number from 0 to 4294967295");
  }
  return parsed;
}

}  // namespace keysieve
