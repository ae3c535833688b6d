// What `keysieve build` and `keysieve verify` read for a map: a list of values, or the lists of several sets.
#pragma once

#include <string>
#include <vector>

#include "core/builder/snapshot/builder.hpp"
#include "core/builder/snapshot/map_values.hpp"
#include "tools/keys/key_file.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace keysieve {

struct MapOptions {
  std::string values_path;
  unsigned value_column = 2;
  std::vector<std::string> members;  // NAME=FILE

  [[nodiscard]] bool is_map() const noexcept { return !values_path.empty() || !members.empty(); }
  // Of all its lists. Throws as member_lists().
  [[nodiscard]] std::vector<std::string> paths() const;
};

// --values, --value-column and --member.
void add_map_options(CLI::App* verb, MapOptions& options);

struct MemberList {
  std::string name;
  std::string path;
};

// In ascending order of their names. Throws Usage for a text that is not NAME=FILE, a name that is not a set
// name or that occurs twice, and too many.
std::vector<MemberList> member_lists(const std::vector<std::string>& members);

// Holds the values while the builder takes the keys. Must outlive the builder.
class MapInput {
 public:
  MapInput(const MapOptions& options, unsigned threads);

  // For BuildSettings::map.
  [[nodiscard]] MapContents contents() const noexcept;
  [[nodiscard]] const std::vector<MemberList>& lists() const noexcept { return lists_; }

  // Some lines of the list of values. Any thread, each with its own number. Throws Data.
  void add_lines(unsigned thread, std::span<const std::string_view> lines, SnapshotBuilder& builder);
  // Some keys of lists()[list].
  void add_members(unsigned thread, std::span<const std::string_view> keys, std::size_t list,
                   SnapshotBuilder& builder);
  // Call after the last key. Throws Data for a key with two values, which it looks up in the list again, and
  // for too many combinations of sets.
  void finish(const KeyFileFormat& format, const KeyHasher& hasher);

 private:
  [[nodiscard]] std::string key_with(KeyHash hash, const KeyFileFormat& format,
                                     const KeyHasher& hasher) const;

  const MapOptions& options_;
  std::vector<MemberList> lists_;
  MapValues values_;
  MapMembers members_;
};

}  // namespace keysieve
