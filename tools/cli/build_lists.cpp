#include "tools/cli/build_lists.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "core/worker/base/error.hpp"
#include "tools/cli/messages.hpp"
#include "tools/keys/value_line.hpp"
#include "tools/program/printable.hpp"

namespace keysieve {
namespace {

// Reads the list again, because only hashes are kept.
std::string map_key_with(KeyHash hash, const KeyList& list, const KeyHasher& hasher) {
  if (list.path() == "-") return "a key, which a list in a file would show,";
  std::string found = "a key";
  read_keys(list.path(), list.format, [&](std::string_view line) {
    const std::string_view key = parse_value_line(line, list.value_column, list.source()).key;
    if (hasher(key) == hash) found = "\"" + printable(key) + "\"";
  });
  return found;
}

}  // namespace

void BuildLists::declare(CLI::App* verb) {
  add_key_list(verb, "KEYFILE", "One key per line; - reads standard input. Empty lines are skipped", keys);
  add_text(
      verb, "--known-absent FILE", known_absent_path,
      "List of keys to which the set answers absent, without exception; - reads standard input. A key in "
      "both lists counts as a key of the set. --fpr is that of all others");
  add_text(
      verb, "--key-profile TEXT", key_profile,
      "Names how keys are normalised, at most 64 bytes; PHP can ask for it. Keys of a built-in profile are "
      "checked: " +
          built_in_profiles());
  add_allow_suspect_keys(verb, allow_suspect_keys);
}

// Hands all keys of a list to `add(thread, keys)`, which returns how many there were so far.
template <typename Add>
void BuildLists::read(const std::string& path, const SnapshotBuilder& builder, PublicSuffixes suffixes,
                      Add add) const {
  ProgressLine progress("reading " + key_source(path));
  KeyFileFormat format = keys.format;
  format.has_columns = path == keys.values_path;
  format.max_key_bytes = std::min(format.max_key_bytes, builder.most_key_bytes());
  ProfileCheck profile(key_profile, suffixes);
  KeysRead read = read_keys_in_threads(path, format, builder.threads(), [&](unsigned thread, auto part) {
    for (const std::string_view line : part) {
      profile.see(format.has_columns ? line.substr(0, line.find('\t')) : line);
    }
    const std::uint64_t given = add(thread, part);
    if (thread == 0) progress.show_keys(given);
  });
  profile.finish(key_source(path), read);
  check_suspect_keys(path, read, allow_suspect_keys);
}

void BuildLists::read_map(SnapshotBuilder& builder, MapValues& values) const {
  const KeyList& list = keys;
  read(list.path(), builder, PublicSuffixes::Suspect, [&](unsigned thread, auto lines) {
    for (const std::string_view line : lines) {
      const ValueLine parsed = parse_value_line(line, list.value_column, list.source());
      builder.add(thread, {&parsed.key, 1});
      values.add(thread, builder.hasher()(parsed.key), parsed.value);
    }
    return builder.keys_given();
  });
  if (const auto conflict = values.finish()) {
    throw Error(ErrorKind::Data, fmt::format("{}: {} has the values {} and {}", list.source(),
                                             map_key_with(conflict->hash, list, builder.hasher()),
                                             conflict->first, conflict->second));
  }
}

void BuildLists::read_into(SnapshotBuilder& builder, MapValues& values) const {
  if (keys.is_map()) {
    read_map(builder, values);
  } else {
    read(keys.path(), builder, PublicSuffixes::Suspect, [&](unsigned thread, auto part) {
      builder.add(thread, part);
      return builder.keys_given();
    });
  }
  if (!known_absent_path.empty()) {
    read(known_absent_path, builder, PublicSuffixes::Allow, [&](unsigned thread, auto part) {
      builder.add_known_absent(thread, part);
      return builder.known_absent_given();
    });
  }
}

}  // namespace keysieve
