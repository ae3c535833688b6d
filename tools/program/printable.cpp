#include "tools/program/printable.hpp"

#include <boost/locale/utf.hpp>

namespace keysieve {
namespace {

bool is_printable(boost::locale::utf::code_point point) {
  return point >= 0x20 && (point < 0x7F || point >= 0xA0);
}

// How many of the first `most` bytes are whole characters. Of bytes that are not UTF-8, all are.
std::size_t cut_before(std::string_view text, std::size_t most) {
  constexpr std::size_t kLongestCharacter = 4;
  const auto goes_on = [text](std::size_t at) { return (text[at] & 0xC0) == 0x80; };
  if (text.size() <= most) return text.size();
  std::size_t end = most;
  while (end > 0 && most - end < kLongestCharacter && goes_on(end)) --end;
  return goes_on(end) ? most : end;
}

std::string escaped(std::string_view text) {
  std::string shown;
  for (const char character : text) {
    if (character == '"' || character == '\\') shown += '\\';
    shown += character == '\t' ? std::string_view("\\t") : std::string_view(&character, 1);
  }
  return shown;
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
  return "\"" + printable(escaped(text.substr(0, cut_before(text, most)))) +
         (text.size() > most ? "...\"" : "\"");
}

}  // namespace keysieve
