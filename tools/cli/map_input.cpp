#include "tools/cli/map_input.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "core/worker/base/error.hpp"
#include "tools/cli/options.hpp"
#include "tools/keys/value_line.hpp"
#include "tools/program/printable.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

unsigned parse_column(const std::string& text) {
  const std::uint64_t column = parse_count(text);
  if (column < 2 || column > 1'000)
    throw Error(ErrorKind::Usage,
                fmt::format("{} is out of range: 2 to 1000; the key is in the first", column));
  return static_cast<unsigned>(column);
}

}  // namespace

void add_map_options(CLI::App* verb, MapOptions& options) {
  const std::string group = "Maps, in which each key has a value (kind ribbon)";
  auto* values =
      verb->add_option("--values", options.values_path,
                       "Instead of KEYFILE: a key, a TAB and its value per line, a number from 0 to "
                       "4294967295; - reads standard input. Any other key has a value too, with the "
                       "probability of --fpr")
          ->type_name("FILE")
          ->group(group);
  add_parsed(verb, "--value-column", options.value_column, parse_column,
             "Column of the value, where the columns are separated by TABs [2]")
      ->type_name("N")
      ->needs(values)
      ->group(group);
}

void MapInput::add_lines(unsigned thread, std::span<const std::string_view> lines, SnapshotBuilder& builder) {
  for (const std::string_view line : lines) {
    const ValueLine parsed = parse_value_line(line, options_.value_column, key_source(options_.values_path));
    builder.add(thread, {&parsed.key, 1});
    values_.add(thread, builder.hasher()(parsed.key), parsed.value);
  }
}

void MapInput::finish(const KeyFileFormat& format, const KeyHasher& hasher) {
  if (const auto conflict = values_.finish()) {
    throw Error(ErrorKind::Data,
                fmt::format("{}: {} has the values {} and {}", key_source(options_.values_path),
                            key_with(conflict->hash, format, hasher), conflict->first, conflict->second));
  }
}

// Reads the list again, because only hashes are kept.
std::string MapInput::key_with(KeyHash hash, const KeyFileFormat& format, const KeyHasher& hasher) const {
  if (options_.values_path == "-") return "a key, which a list in a file would show,";
  std::string found = "a key";
  read_keys(options_.values_path, format, [&](std::string_view line) {
    const std::string_view key = parse_value_line(line, options_.value_column, options_.values_path).key;
    if (hasher(key) == hash) found = "\"" + printable(key) + "\"";
  });
  return found;
}

}  // namespace keysieve
