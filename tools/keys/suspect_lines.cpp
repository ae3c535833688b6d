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

// Leaves out empty lines and CRs, as the reader does.
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
  // ASCII space and tab, no-break space, ideographic space.
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

struct Signature {
  std::string_view bytes;
  std::string_view format;
  std::string_view remedy;
};

// The first bytes of each format (RFC 1952, RFC 8878, the .xz file format), including the gzip method (8).
constexpr std::array<Signature, 3> kCompressed{{{"\x1F\x8B\x08", "gzip", "zcat"},
                                                {"\x28\xB5\x2F\xFD", "zstd", "zstdcat"},
                                                {{"\xFD\x37\x7A\x58\x5A\x00", 6}, "xz", "xzcat"}}};

// A key that is not text may begin with these two bytes. Such keys need -0, so with -0 the list is UTF-16
// only if the NUL of a first letter below U+0100 follows.
bool is_utf16(std::string_view text, const KeyFileFormat& format) {
  const bool is_little_endian = text.starts_with("\xFF\xFE");
  if (!is_little_endian && !text.starts_with("\xFE\xFF")) return false;
  if (!format.nul_separated) return true;
  const std::size_t zero = is_little_endian ? 3 : 2;
  return text.size() > zero && text[zero] == '\0';
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

std::optional<std::string> wrong_beginning(std::string_view text, const KeyFileFormat& format) {
  for (const Signature& signature : kCompressed) {
    if (!text.starts_with(signature.bytes)) continue;
    return "is compressed by " + std::string(signature.format) + ": decompress it first, with " +
           std::string(signature.remedy);
  }
  if (is_utf16(text, format)) return "begins with a UTF-16 byte order mark: convert it, with iconv -t UTF-8";
  if (!format.nul_separated && text.starts_with("\xEF\xBB\xBF")) {
    return "begins with a UTF-8 byte order mark, which would be part of the first key: remove it";
  }
  return std::nullopt;
}

}  // namespace keysieve
