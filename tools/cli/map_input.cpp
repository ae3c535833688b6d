#include "tools/cli/map_input.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/worker/base/error.hpp"
#include "core/worker/base/set_name.hpp"
#include "core/worker/snapshot/layout.hpp"
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
  verb->add_option("--member", options.members,
                   "Instead of KEYFILE: a name and a list of keys, several times. The map says in which of "
                   "these lists a key is")
      ->type_name("NAME=FILE")
      ->excludes(values)
      ->group(group);
}

std::vector<MemberList> member_lists(const std::vector<std::string>& members) {
  std::vector<MemberList> lists;
  for (const std::string& member : members) {
    const std::size_t equals = member.find('=');
    if (equals == std::string::npos || equals + 1 == member.size()) {
      throw Error(ErrorKind::Usage, "--member: \"" + member + "\" is not NAME=FILE");
    }
    lists.push_back({checked_set_name(member.substr(0, equals)), member.substr(equals + 1)});
  }
  std::ranges::sort(lists, {}, &MemberList::name);
  const auto twice = std::ranges::adjacent_find(lists, {}, &MemberList::name);
  if (twice != lists.end())
    throw Error(ErrorKind::Usage, "--member: the name " + twice->name + " occurs twice");
  if (lists.size() > kMaxMembers) {
    throw Error(ErrorKind::Usage, fmt::format("--member: {} sets are too many for one map, which can have {}",
                                              lists.size(), kMaxMembers));
  }
  return lists;
}

std::vector<std::string> MapOptions::paths() const {
  std::vector<std::string> paths{values_path};
  for (const MemberList& list : member_lists(members)) paths.push_back(list.path);
  return paths;
}

MapInput::MapInput(const MapOptions& options, unsigned threads)
    : options_(options), lists_(member_lists(options.members)), values_(threads) {
  for (const MemberList& list : lists_) members_.names.push_back(list.name);
}

MapContents MapInput::contents() const noexcept {
  if (!options_.is_map()) return {};
  return {&values_, lists_.empty() ? nullptr : &members_};
}

void MapInput::add_lines(unsigned thread, std::span<const std::string_view> lines, SnapshotBuilder& builder) {
  for (const std::string_view line : lines) {
    const ValueLine parsed = parse_value_line(line, options_.value_column, key_source(options_.values_path));
    builder.add(thread, {&parsed.key, 1});
    values_.add(thread, builder.hasher()(parsed.key), parsed.value);
  }
}

void MapInput::add_members(unsigned thread, std::span<const std::string_view> keys, std::size_t list,
                           SnapshotBuilder& builder) {
  builder.add(thread, keys);
  for (const std::string_view key : keys) {
    values_.add(thread, builder.hasher()(key), std::uint64_t{1} << list);
  }
}

void MapInput::finish(const KeyFileFormat& format, const KeyHasher& hasher) {
  if (!lists_.empty()) {
    members_.combinations = values_.finish_members();
    if (members_.combinations.size() <= kMaxCombinations) return;
    throw Error(ErrorKind::Data,
                fmt::format("the keys are in {} combinations of these {} sets, more than a map can number "
                            "({}): build two maps, each of some of the sets",
                            format_count(members_.combinations.size()), lists_.size(),
                            format_count(kMaxCombinations)));
  }
  if (const auto conflict = values_.finish_values()) {
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
