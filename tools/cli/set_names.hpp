// Whether a set that was named on the command line exists. A mistyped name is an error that suggests the
// nearest one: a command that succeeds without doing anything looks like one that helped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/records/pointer_record.hpp"
#include "tools/stores/store.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace keysieve {

enum class SetType : std::uint8_t { Published, Seen };

// Which sets of that name the directory has: a published one, a seen one, or both in this order. Throws
// MissingInput if it has neither; Usage for an invalid name.
std::vector<SetType> sets_named(const std::string& directory, const std::string& set_name);

// Returns the record of a set that has a current generation. Throws MissingInput if there is none; Data,
// Usage, and as the store does.
PointerRecord check_pushed(Store& store, const std::string& set_name);

// For verbs that write to a store what only loaders read, of a set that may have been lost from the store:
// --allow-unknown-set, and the check that it lifts.
void add_allow_unknown_set(CLI::App* verb, bool& allow);
// Throws MissingInput for a set that is neither in the store nor in the directory.
void check_known(Store& store, const std::string& directory, const std::string& set_name);
// Throws the same only if another name is near, or that of a seen set: what would be added is worth more than
// a check, and an emptied store has no names.
void check_not_mistyped(Store& store, const std::string& directory, const std::string& set_name);

// Returns false if it cannot find out: a user may be allowed to write and not to read.
bool is_known_missing(Store& store, const std::string& set_name);

}  // namespace keysieve
