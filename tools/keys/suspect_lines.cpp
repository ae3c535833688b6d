#include "tools/keys/suspect_lines.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "core/base/printable.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kExamples = 3;
constexpr std::size_t kExampleBytes = 40;

using Lines = std::span<const std::string_view>;

// Without the empty ones and without CR, as keys are read.
std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string shown(std::string_view line) {
  std::string text;
  for (const char character : line.substr(0, kExampleBytes)) {
    text += character == '\t' ? std::string("\\t") : std::string(1, character);
  }
  return "\"" + printable(text) + (line.size() > kExampleBytes ? "..." : "") + "\"";
}

std::string examples(Lines lines) {
  std::string text;
  for (const std::string_view line : lines.first(std::min(kExamples, lines.size()))) {
    text += (text.empty() ? "" : ", ") + shown(line);
  }
  return text;
}

bool is_quoted(std::string_view line) {
  return line.size() > 1 && (line.front() == '"' || line.front() == '\'') && line.front() == line.back();
}

// The first line may be a header without quotes.
std::optional<std::string> quotes(Lines lines) {
  const Lines all_but_header = lines.subspan(lines.size() > 1 ? 1 : 0);
  if (!std::ranges::all_of(all_but_header, is_quoted)) return std::nullopt;
  return "all lines are in quotes, which become part of the keys: " + examples(lines);
}

bool has_space_at_an_edge(std::string_view line) {
  // Of ASCII, no-break, ideographic.
  constexpr std::array<std::string_view, 4> kSpaces{" ", "\t", "\u00A0", "\u3000"};
  return std::ranges::any_of(
      kSpaces, [line](std::string_view space) { return line.starts_with(space) || line.ends_with(space); });
}

std::optional<std::string> spaces(Lines lines) {
  std::vector<std::string_view> padded;
  std::ranges::copy_if(lines, std::back_inserter(padded), has_space_at_an_edge);
  if (padded.empty()) return std::nullopt;
  return "lines begin or end with a space, which becomes part of the key: " + examples(padded);
}

std::optional<std::string> columns(Lines lines) {
  struct Separator {
    char character;
    std::string_view name;
  };
  constexpr std::array<Separator, 3> kSeparators{{{',', "comma"}, {';', "semicolon"}, {'\t', "tab"}}};
  if (lines.size() < 2) return std::nullopt;
  for (const auto& [character, name] : kSeparators) {
    const auto count = [wanted = character](std::string_view line) {
      return std::ranges::count(line, wanted);
    };
    const auto expected = count(lines.front());
    if (expected == 0) continue;
    if (!std::ranges::all_of(lines, [&](std::string_view line) { return count(line) == expected; })) continue;
    return "all lines have " + format_count(static_cast<std::uint64_t>(expected) + 1) +
           " columns, each line becomes one key (separator: " + std::string(name) + "): " + examples(lines);
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> suspicions_about(std::string_view text) {
  const std::vector<std::string_view> lines = split_lines(text);
  std::vector<std::string> found;
  if (lines.empty()) return found;
  for (const auto& look_for : {quotes, spaces, columns}) {
    if (const auto suspicion = look_for(lines)) found.push_back(*suspicion);
  }
  return found;
}

}  // namespace keysieve
