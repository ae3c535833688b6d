#include "tools/keys/suspect_lines.hpp"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/erase.hpp>
#include <boost/locale/utf.hpp>
#include <map>
#include <regex>
#include <span>

#include "tools/program/printable.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

// Where a message of the program that wrote the list is looked for: so few lines that no key among others is
// taken for one.
constexpr std::size_t kOuterLines = 5;
// std::regex recurses, so of a longer line it sees this much of either end.
constexpr std::size_t kMatchedBytes = 120;

using Found = std::vector<std::string_view>;
using Lines = std::span<const std::string_view>;
using LineTest = bool (*)(std::string_view line);

// The keys. Leaves out empty lines and CRs, as the reader does.
Found split_lines(std::string_view text, const KeyFileFormat& format) {
  Found lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (format.has_columns) line = line.substr(0, line.find('\t'));
    if (!line.empty()) lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

template <typename Test>
Found lines_that(const Test& test, Lines lines) {
  Found found;
  std::ranges::copy_if(lines, std::back_inserter(found), test);
  return found;
}

// A list of such lines may have a few others: a header, a row that was written in another way.
bool are_most(std::size_t some, Lines lines) {
  return some * 10 >= lines.size() * 9 || (lines.size() > 2 && some + 1 == lines.size());
}

// One such key among many may be right, or be a visitor's mischief, which must not stop the nightly build.
bool are_many(std::size_t some, Lines lines) {
  return some * 100 >= lines.size();
}

bool matches(std::string_view line, const std::regex& pattern) {
  std::string text(line);
  if (text.size() > 2 * kMatchedBytes) text.erase(kMatchedBytes, text.size() - 2 * kMatchedBytes);
  return std::regex_search(text, pattern);
}

// Of database clients, shells, web servers, and PHP: with and without HTML, in a log, the end of a trace.
Found messages(Lines lines, Lines last) {
  static const std::regex message(
      R"(^[ \t]*((ERROR|FATAL):  |ERROR (.* )?\(|(psql|pg_dump|mysql|mysqldump|mariadb|mariadb-dump): )"
      R"(|SQLSTATE\[|Runtime error near line |NOAUTH |\(error\) |Could not connect to Redis)"
      R"(|curl: \(|sh: 1: |bash: line |Traceback \(most recent call last\):|<!DOCTYPE html|<html)"
      R"(|PHP (Fatal error|Parse error|Warning|Notice):  )"
      R"(|(PHP )?(<b>)?(Fatal error|Parse error|Warning|Notice|Deprecated|Uncaught|thrown in).* on line ))"
      R"(|</html>[ \t]*$)");
  const auto is_message = [](std::string_view line) { return matches(line, message); };
  const Found found = lines_that(is_message, lines.first(std::min(kOuterLines, lines.size())));
  return found.empty() ? lines_that(is_message, last.last(std::min(kOuterLines, last.size()))) : found;
}

bool are_page(Lines lines) {
  static const std::regex first(R"(^[ \t]*<(!doctype|html|head|body|\?xml|\?php|!--|h1|title))",
                                std::regex::icase);
  return matches(lines.front(), first);
}

bool is_in(std::string_view line, char open, char close) {
  return line.size() > 1 && line.front() == open && line.back() == close;
}

bool is_json(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  line = line.substr(0, line.find_last_not_of(" \t") + 1);
  return is_in(line, '{', '}') || is_in(line, '[', ']');
}

// Also an array or object that is written over several lines, or whose only line is cut off.
bool are_json(Lines lines, Lines last) {
  static const std::regex opened(R"(^[ \t]*[\[{][ \t]*($|["{\[]))");
  static const std::regex closed(R"([\]}][ \t]*$)");
  const bool is_closed = lines.size() == 1 || (!last.empty() && matches(last.back(), closed));
  return (is_closed && matches(lines.front(), opened)) || are_most(lines_that(is_json, lines).size(), lines);
}

// As mysql, sqlite3 -box and redis-cli on a terminal begin one, psql, sqlite3 -column and sqlcmd underline
// its heading, and psql ends it: "(3 rows)".
bool are_table(Lines lines, Lines last) {
  static const std::regex first("^(\u250C|1\\) \"|\\*{4}.*\\. row \\*|\\+-(.*-)?\\+$)");
  static const std::regex end(R"(^\([0-9]+ rows?\)$)");
  const std::string_view second = lines.size() > 1 ? lines[1] : "";
  const bool is_underlined = second.size() > 1 && second.size() == lines.front().size() &&
                             second.find('-') != std::string_view::npos &&
                             second.find_first_not_of("+-| ") == std::string_view::npos;
  return is_underlined || matches(lines.front(), first) || (!last.empty() && matches(last.back(), end));
}

// Also an element of an array that is written over several lines.
bool is_quoted(std::string_view line) {
  if (line.ends_with(',')) line.remove_suffix(1);
  return is_in(line, '"', '"') || is_in(line, '\'', '\'');
}

// Outside quotes; RFC 4180 doubles the quotes in a quoted field.
std::size_t count_outside_quotes(std::string_view line, char separator) {
  std::size_t count = 0;
  bool is_inside = false;
  for (const char character : line) {
    if (character == '"') is_inside = !is_inside;
    if (character == separator && !is_inside) ++count;
  }
  return count;
}

bool is_csv_field(std::string_view line) {
  if (!is_in(line, '"', '"')) return false;
  const std::string inside(line.substr(1, line.size() - 2));
  return boost::erase_all_copy(inside, "\"\"").find('"') == std::string::npos;
}

// A column of CSV in which only some fields are quoted: all those that hold a separator, a quote, or with
// PHP's fputcsv a space.
void find_csv_quotes(Lines lines, std::vector<Suspicion>& suspicions) {
  const Found quoted = lines_that(is_csv_field, lines);
  for (const char reason : std::string_view(",;\t \"")) {
    const auto has_reason = [reason](std::string_view line) {
      return line.find(reason, 1) < line.size() - 1;
    };
    const auto contradicts = [reason](std::string_view line) {
      return !is_csv_field(line) && line.find_first_of(std::string{reason, '"'}) != std::string_view::npos;
    };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(quoted, has_reason));
    if (count == 0 || std::ranges::any_of(lines, contradicts)) continue;
    const bool is_grave = count >= 3 || are_many(count, lines);
    return suspicions.push_back(
        {"lines are quoted as in CSV, and the quotes become part of the keys: " + examples(quoted),
         is_grave});
  }
}

void find_columns(Lines lines, std::vector<Suspicion>& suspicions) {
  constexpr std::array<std::pair<char, const char*>, 4> kSeparators{
      {{',', "comma"}, {';', "semicolon"}, {'\t', "tab"}, {'|', "bar"}}};
  if (lines.size() < 3) return;  // two titles with a comma are no table
  for (const auto& [character, name] : kSeparators) {
    std::map<std::size_t, std::size_t> lines_with;  // by number of separators
    for (const std::string_view line : lines) ++lines_with[count_outside_quotes(line, character)];
    const auto& [count, alike] =
        *std::ranges::max_element(lines_with, {}, [](const auto& entry) { return entry.second; });
    if (count == 0 || !are_most(alike, lines)) continue;
    return suspicions.push_back({"lines have " + format_count(count + 1) +
                                     " columns, and each line becomes one key (separator: " + name +
                                     "): " + examples(lines),
                                 true});
  }
}

bool has_space_at_an_edge(std::string_view line) {
  // ASCII space, tab and CR, no-break space, ideographic space.
  constexpr std::array<std::string_view, 5> kSpaces{" ", "\t", "\r", "\u00A0", "\u3000"};
  return std::ranges::any_of(
      kSpaces, [line](std::string_view space) { return line.starts_with(space) || line.ends_with(space); });
}

bool is_not_utf8(std::string_view line) {
  const char* const end = line.data() + line.size();
  for (const char* at = line.data(); at != end;) {
    if (!boost::locale::utf::is_valid_codepoint(boost::locale::utf::utf_traits<char>::decode(at, end)))
      return true;
  }
  return false;
}

// A conversion writes ? or U+FFFD for what it cannot express.
bool is_lost(std::string_view line) {
  const bool is_all_marks = line.front() == '?' && line.find_first_not_of("? ") == std::string_view::npos;
  return is_all_marks || line.find("\uFFFD") != std::string_view::npos;
}

constexpr std::array<std::pair<LineTest, std::string_view>, 4> kOddLines{
    {{has_space_at_an_edge, "lines begin or end with a space, which becomes part of the key: "},
     {is_not_utf8, "lines are not UTF-8 (if they are Latin-1: iconv -f LATIN1 -t UTF-8): "},
     {is_lost, "letters were lost in a conversion (mysql --default-character-set=utf8mb4 keeps them): "},
     {[](std::string_view line) { return line == "NULL" || line == "\\N"; },
      "a database's NULL became a key: "}}};

// In a sorted list they may all be at the end.
std::optional<Suspicion> odd_lines(LineTest is_odd, std::string_view sentence, Lines lines, Lines last) {
  std::optional<Suspicion> suspicion;
  for (const Lines part : {lines, last}) {
    const Found some = lines_that(is_odd, part);
    if (some.empty() || (suspicion && suspicion->is_grave)) continue;
    suspicion = {.sentence = std::string(sentence) + examples(some), .is_grave = are_many(some.size(), part)};
  }
  return suspicion;
}

// The first bytes of each format (RFC 1952, RFC 8878, the .xz file format), including the gzip method (8),
// and of what Git has in place of a large file that it was not told to fetch.
constexpr std::array<std::pair<std::string_view, const char*>, 5> kOtherFiles{
    {{"\x1F\x8B\x08", "is compressed by gzip: decompress it first, with zcat"},
     {"\x28\xB5\x2F\xFD", "is compressed by zstd: decompress it first, with zstdcat"},
     {{"\xFD\x37\x7A\x58\x5A\x00", 6}, "is compressed by xz: decompress it first, with xzcat"},
     {"version https://git-lfs.github.com/spec/",
      "is a pointer of Git LFS: fetch the list itself first, with git lfs pull"},
     {"/annex/objects/", "is a pointer of git-annex: fetch the list itself first, with git annex get"}}};

}  // namespace

std::string examples(std::span<const std::string_view> lines, std::size_t most) {
  constexpr std::size_t kExampleBytes = 40;
  std::string text;
  for (const std::string_view line : lines.first(std::min(most, lines.size()))) {
    text += (text.empty() ? "" : ", ") + quoted(line, kExampleBytes);
  }
  return text;
}

std::vector<Suspicion> suspicions_about(std::string_view beginning, std::string_view ending,
                                        const KeyFileFormat& format) {
  const Found lines = split_lines(beginning, format);
  const Found last = split_lines(ending, format);
  std::vector<Suspicion> found;
  const auto add = [&found](const std::string& what, Lines shown) {
    if (!shown.empty()) found.push_back({.sentence = what + ": " + examples(shown), .is_grave = true});
  };
  add("a program failed while it wrote the list, which may be incomplete", messages(lines, last));
  if (!lines.empty()) {
    const Lines none;
    add("this is a page of HTML or XML", are_page(lines) ? lines : none);
    add("lines are JSON, and each line becomes one key", are_json(lines, last) ? lines : none);
    add("this is a table that a database client drew (mysql -BN and psql -At print keys alone)",
        are_table(lines, last) ? lines : none);
    const Found quoted = lines_that(is_quoted, lines);
    const bool are_quoted = are_most(quoted.size(), lines);
    add("lines are in quotes, which become part of the keys", are_quoted ? quoted : none);
    if (!are_quoted) find_csv_quotes(lines, found);
    find_columns(lines, found);
  }
  for (const auto& [is_odd, sentence] : kOddLines) {
    if (const auto suspicion = odd_lines(is_odd, sentence, lines, last)) found.push_back(*suspicion);
  }
  return found;
}

std::optional<std::string> wrong_beginning(std::string_view text, const KeyFileFormat& format) {
  for (const auto& [bytes, why] : kOtherFiles) {
    if (text.starts_with(bytes)) return why;
  }
  // A key that is not text may begin with these two bytes. Such keys need -0, so with -0 the list is UTF-16
  // only if the NUL of a first letter below U+0100 follows.
  const std::size_t zero = text.starts_with("\xFF\xFE") ? 3 : text.starts_with("\xFE\xFF") ? 2 : 0;
  if (zero != 0 && (!format.nul_separated || (text.size() > zero && text[zero] == '\0'))) {
    return "begins with a UTF-16 byte order mark: convert it, with iconv -t UTF-8";
  }
  if (!format.nul_separated && text.starts_with("\xEF\xBB\xBF")) {
    return "begins with a UTF-8 byte order mark, which would be part of the first key: remove it";
  }
  return std::nullopt;
}

}  // namespace keysieve
