#include "tools/program/printable.hpp"

#include <boost/locale/utf.hpp>

namespace keysieve {
namespace {

bool is_printable(boost::locale::utf::code_point point) {
  return point >= 0x20 && (point < 0x7F || point >= 0xA0);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const char* const begin = at;
    const auto point = boost::locale::utf::utf_traits<char>::decode(at, end);
    const bool is_valid = boost::locale::utf::is_valid_codepoint(point);
    if (!is_valid) at = begin + 1;
    shown += is_valid && is_printable(point) ? std::string_view(begin, at) : "\uFFFD";
  }
  return shown;
}

std::string quoted(std::string_view text, std::size_t most) {
  return "\"" + printable(text.substr(0, most)) + (text.size() > most ? "...\"" : "\"");
}

}  // namespace keysieve
