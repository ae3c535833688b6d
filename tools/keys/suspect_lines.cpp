#include "tools/keys/suspect_lines.hpp"

#include <strings.h>

#include <algorithm>
#include <array>
#include <boost/locale/utf.hpp>
#include <map>
#include <optional>
#include <span>

#include "tools/program/printable.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kExamples = 3;
constexpr std::size_t kExampleBytes = 40;

// Where a message of the program that wrote the list is looked for: so few lines that no key among others is
// taken for one.
constexpr std::size_t kOuterLines = 5;

using Lines = std::span<const std::string_view>;
using LineTest = bool (*)(std::string_view line);

std::string_view without_spaces(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  return begin == std::string_view::npos ? "" : line.substr(begin, line.find_last_not_of(" \t") + 1 - begin);
}

// The keys. Leaves out empty lines and CRs, as the reader does.
std::vector<std::string_view> split_lines(std::string_view text, const KeyFileFormat& format) {
  std::vector<std::string_view> lines;
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

Lines last_of(Lines lines, std::size_t count) {
  return lines.last(std::min(count, lines.size()));
}

std::vector<std::string_view> lines_that(LineTest test, Lines lines) {
  std::vector<std::string_view> found;
  std::ranges::copy_if(lines, std::back_inserter(found), test);
  return found;
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

Suspicion grave(std::string_view what, Lines lines) {
  return {.sentence = std::string(what) + ": " + examples(lines), .is_grave = true};
}

// A list of such lines may have a few others: a header, a row that was written in another way.
bool are_most(std::size_t some, Lines lines) {
  return some * 10 >= lines.size() * 9 || (lines.size() > 2 && some + 1 == lines.size());
}

// One such key among many may be right, or be a visitor's mischief, which must not stop the nightly build.
bool are_many(std::size_t some, Lines lines) {
  return some * 100 >= lines.size();
}

bool is_in(std::string_view line, char open, char close) {
  return line.size() > 1 && line.front() == open && line.back() == close;
}

// Also an element of an array that is written over several lines.
bool is_quoted(std::string_view line) {
  if (line.ends_with(',')) line.remove_suffix(1);
  return is_in(line, '"', '"') || is_in(line, '\'', '\'');
}

std::optional<Suspicion> quotes(Lines lines) {
  const auto quoted = lines_that(is_quoted, lines);
  if (quoted.empty() || !are_most(quoted.size(), lines)) return std::nullopt;
  return grave("lines are in quotes, which become part of the keys", quoted);
}

// RFC 4180: the quotes in a quoted field are doubled.
bool is_csv_field(std::string_view line) {
  if (!is_in(line, '"', '"')) return false;
  line = line.substr(1, line.size() - 2);
  for (std::size_t at = 0; (at = line.find('"', at)) != std::string_view::npos; at += 2) {
    if (line.substr(at, 2) != "\"\"") return false;
  }
  return true;
}

// A column of CSV in which only some fields are quoted: all those that hold a separator, a quote, or with
// PHP's fputcsv a space.
std::optional<Suspicion> csv_quotes(Lines lines) {
  constexpr std::string_view kReasonsToQuote = ",;\t \"";
  const auto quoted = lines_that(is_csv_field, lines);
  if (quoted.empty() || quotes(lines)) return std::nullopt;
  for (const char reason : kReasonsToQuote) {
    const auto is_quoted_for_it = [reason](std::string_view line) {
      return line.substr(1, line.size() - 2).find(reason) != std::string_view::npos;
    };
    const auto contradicts = [reason](std::string_view line) {
      return !is_csv_field(line) &&
             (line.find(reason) != std::string_view::npos || line.find('"') != std::string_view::npos);
    };
    const auto count = std::ranges::count_if(quoted, is_quoted_for_it);
    if (count == 0 || std::ranges::any_of(lines, contradicts)) continue;
    return Suspicion{
        .sentence = "lines are quoted as in CSV, and the quotes become part of the keys: " + examples(quoted),
        .is_grave = count >= 3 || are_many(static_cast<std::size_t>(count), lines)};
  }
  return std::nullopt;
}

std::size_t separators_outside_quotes(std::string_view line, char separator) {
  std::size_t count = 0;
  bool is_inside = false;
  for (const char character : line) {
    if (character == '"') is_inside = !is_inside;
    if (character == separator && !is_inside) ++count;
  }
  return count;
}

std::optional<Suspicion> columns(Lines lines) {
  struct Separator {
    char character;
    std::string_view name;
  };
  constexpr std::array<Separator, 4> kSeparators{
      {{',', "comma"}, {';', "semicolon"}, {'\t', "tab"}, {'|', "bar"}}};
  if (lines.size() < 3) return std::nullopt;  // two titles with a comma are no table
  for (const auto& [character, name] : kSeparators) {
    std::map<std::size_t, std::size_t> lines_with;  // by number of separators
    for (const std::string_view line : lines) ++lines_with[separators_outside_quotes(line, character)];
    const auto& [count, alike] =
        *std::ranges::max_element(lines_with, {}, [](const auto& entry) { return entry.second; });
    if (count == 0 || !are_most(alike, lines)) continue;
    return grave("lines have " + format_count(count + 1) +
                     " columns, and each line becomes one key (separator: " + std::string(name) + ")",
                 lines);
  }
  return std::nullopt;
}

bool is_json(std::string_view line) {
  line = without_spaces(line);
  return is_in(line, '{', '}') || is_in(line, '[', ']');
}

// The first line of an array or object that is written over several lines, or cut off.
bool opens_json(std::string_view line) {
  line = without_spaces(line);
  if (!line.starts_with('[') && !line.starts_with('{')) return false;
  line = without_spaces(line.substr(1));
  return line.empty() || line.front() == '"' || line.front() == '{' || line.front() == '[';
}

bool closes_json(std::string_view line) {
  line = without_spaces(line);
  return line.ends_with(']') || line.ends_with('}');
}

std::optional<Suspicion> json(Lines lines, Lines last) {
  const bool is_document =
      opens_json(lines.front()) && (lines.size() == 1 || (!last.empty() && closes_json(last.back())));
  if (!is_document && !are_most(lines_that(is_json, lines).size(), lines)) return std::nullopt;
  return grave("lines are JSON, and each line becomes one key", lines);
}

std::optional<Suspicion> markup(Lines lines, Lines /*last*/) {
  constexpr std::array<std::string_view, 9> kBeginnings{"<!doctype", "<html", "<head", "<body", "<?xml",
                                                        "<?php",     "<!--",  "<h1",   "<title"};
  const std::string_view first = without_spaces(lines.front());
  const auto begins = [first](std::string_view beginning) {
    return first.size() >= beginning.size() &&
           ::strncasecmp(first.data(), beginning.data(), beginning.size()) == 0;
  };
  if (!std::ranges::any_of(kBeginnings, begins)) return std::nullopt;
  return grave("this is a page of HTML or XML", lines);
}

// How the output of mysql, of sqlite3 -box and of redis-cli on a terminal begins.
bool begins_table(std::string_view line) {
  if (line.starts_with("****") && line.find(". row *") != std::string_view::npos) return true;
  return (line.starts_with("+-") && line.ends_with("-+")) || line.starts_with("\u250C") ||
         line.starts_with("1) \"");
}

// The line below a heading, as psql, sqlite3 -column and sqlcmd draw it.
bool underlines(std::string_view line, std::string_view heading) {
  return line.size() > 1 && line.size() == heading.size() && line.find('-') != std::string_view::npos &&
         line.find_first_not_of("+-| ") == std::string_view::npos;
}

// "(3 rows)": psql.
bool is_row_count(std::string_view line) {
  const std::size_t digits_end = line.find_first_not_of("0123456789", 1);
  return is_in(line, '(', ')') && digits_end > 1 &&
         (line.substr(digits_end) == " row)" || line.substr(digits_end) == " rows)");
}

std::optional<Suspicion> table(Lines lines, Lines last) {
  const bool is_drawn =
      begins_table(lines.front()) || (lines.size() > 1 && underlines(lines[1], lines.front()));
  if (!is_drawn && (last.empty() || !is_row_count(last.back()))) return std::nullopt;
  return grave("this is a table that a database client drew (mysql -BN and psql -At print keys alone)",
               lines);
}

// "ERROR 2013 (HY000)": mysql.
bool is_mysql_error(std::string_view line) {
  return line.starts_with("ERROR ") && line.find_first_of("0123456789") == 6 &&
         line.find(" (") != std::string_view::npos;
}

// What PHP prints: on display or to a log, with and without HTML, and the end of a trace.
bool is_php_error(std::string_view line) {
  constexpr std::array<std::string_view, 7> kBeginnings{"Fatal error", "Parse error", "Warning",  "Notice",
                                                        "Deprecated",  "Uncaught",    "thrown in"};
  for (const std::string_view prefix : {"PHP ", "<b>"}) {
    if (line.starts_with(prefix)) line.remove_prefix(prefix.size());
  }
  return std::ranges::any_of(kBeginnings, [line](std::string_view text) { return line.starts_with(text); }) &&
         line.find(" on line ") != std::string_view::npos;
}

bool is_message(std::string_view line) {
  constexpr std::array kBeginnings{std::string_view("ERROR:  "),
                                   std::string_view("FATAL:  "),
                                   std::string_view("psql: "),
                                   std::string_view("pg_dump: "),
                                   std::string_view("mysql: "),
                                   std::string_view("mysqldump: "),
                                   std::string_view("mariadb: "),
                                   std::string_view("mariadb-dump: "),
                                   std::string_view("SQLSTATE["),
                                   std::string_view("Runtime error near line "),
                                   std::string_view("Could not connect to Redis"),
                                   std::string_view("NOAUTH "),
                                   std::string_view("(error) "),
                                   std::string_view("curl: ("),
                                   std::string_view("sh: 1: "),
                                   std::string_view("bash: line "),
                                   std::string_view("Traceback (most recent call last):"),
                                   std::string_view("PHP Fatal error:  "),
                                   std::string_view("PHP Parse error:  "),
                                   std::string_view("PHP Warning:  "),
                                   std::string_view("PHP Notice:  "),
                                   std::string_view("<!DOCTYPE html"),
                                   std::string_view("<html")};
  line = without_spaces(line);
  return is_mysql_error(line) || is_php_error(line) || line.ends_with("</html>") ||
         std::ranges::any_of(kBeginnings, [line](std::string_view text) { return line.starts_with(text); });
}

std::optional<Suspicion> messages(Lines lines, Lines last) {
  for (const Lines outer : {lines.first(std::min(kOuterLines, lines.size())), last_of(last, kOuterLines)}) {
    const auto found = lines_that(is_message, outer);
    if (!found.empty())
      return grave("a program failed while it wrote the list, which may be incomplete", found);
  }
  return std::nullopt;
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

bool is_null(std::string_view line) {
  return line == "NULL" || line == "\\N";
}

struct OddLine {
  LineTest is_odd;
  std::string_view sentence;
};

constexpr std::array<OddLine, 4> kOddLines{
    {{has_space_at_an_edge, "lines begin or end with a space, which becomes part of the key"},
     {is_not_utf8, "lines are not UTF-8 (if they are Latin-1: iconv -f LATIN1 -t UTF-8)"},
     {is_lost, "letters were lost in a conversion (mysql --default-character-set=utf8mb4 keeps them)"},
     {is_null, "a database's NULL became a key"}}};

struct Signature {
  std::string_view bytes;
  std::string_view format;
  std::string_view remedy;
};

// The first bytes of each format (RFC 1952, RFC 8878, the .xz file format), including the gzip method (8).
constexpr std::array<Signature, 3> kCompressed{{{"\x1F\x8B\x08", "gzip", "zcat"},
                                                {"\x28\xB5\x2F\xFD", "zstd", "zstdcat"},
                                                {{"\xFD\x37\x7A\x58\x5A\x00", 6}, "xz", "xzcat"}}};

// What Git has in place of a large file that it was not told to fetch.
constexpr std::array<Signature, 2> kPointers{
    {{"version https://git-lfs.github.com/spec/", "Git LFS", "git lfs pull"},
     {"/annex/objects/", "git-annex", "git annex get"}}};

// A key that is not text may begin with these two bytes. Such keys need -0, so with -0 the list is UTF-16
// only if the NUL of a first letter below U+0100 follows.
bool is_utf16(std::string_view text, const KeyFileFormat& format) {
  const bool is_little_endian = text.starts_with("\xFF\xFE");
  if (!is_little_endian && !text.starts_with("\xFE\xFF")) return false;
  if (!format.nul_separated) return true;
  const std::size_t zero = is_little_endian ? 3 : 2;
  return text.size() > zero && text[zero] == '\0';
}

std::optional<Suspicion> odd_lines(const OddLine& odd, Lines lines) {
  const auto some = lines_that(odd.is_odd, lines);
  if (some.empty()) return std::nullopt;
  return Suspicion{.sentence = std::string(odd.sentence) + ": " + examples(some),
                   .is_grave = are_many(some.size(), lines)};
}

}  // namespace

std::vector<Suspicion> suspicions_about(std::string_view beginning, std::string_view ending,
                                        const KeyFileFormat& format) {
  const std::vector<std::string_view> lines = split_lines(beginning, format);
  const std::vector<std::string_view> last = split_lines(ending, format);
  std::vector<Suspicion> found;
  if (const auto suspicion = messages(lines, last)) found.push_back(*suspicion);
  if (!lines.empty()) {
    for (const auto& look_for : {markup, json, table}) {
      if (const auto suspicion = look_for(lines, last)) found.push_back(*suspicion);
    }
    for (const auto& look_for : {quotes, csv_quotes, columns}) {
      if (const auto suspicion = look_for(lines)) found.push_back(*suspicion);
    }
  }
  for (const OddLine& odd : kOddLines) {
    // In a sorted list they may all be at the end.
    std::optional<Suspicion> suspicion = odd_lines(odd, lines);
    if (!suspicion || !suspicion->is_grave) {
      if (auto at_end = odd_lines(odd, last)) suspicion = std::move(at_end);
    }
    if (suspicion) found.push_back(*suspicion);
  }
  return found;
}

std::optional<std::string> wrong_beginning(std::string_view text, const KeyFileFormat& format) {
  for (const Signature& signature : kCompressed) {
    if (!text.starts_with(signature.bytes)) continue;
    return "is compressed by " + std::string(signature.format) + ": decompress it first, with " +
           std::string(signature.remedy);
  }
  for (const Signature& signature : kPointers) {
    if (!text.starts_with(signature.bytes)) continue;
    return "is a pointer of " + std::string(signature.format) + ": fetch the list itself first, with " +
           std::string(signature.remedy);
  }
  if (is_utf16(text, format)) return "begins with a UTF-16 byte order mark: convert it, with iconv -t UTF-8";
  if (!format.nul_separated && text.starts_with("\xEF\xBB\xBF")) {
    return "begins with a UTF-8 byte order mark, which would be part of the first key: remove it";
  }
  return std::nullopt;
}

}  // namespace keysieve
