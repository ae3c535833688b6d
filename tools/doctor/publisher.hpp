// Who publishes in the directory, as far as anything tells. Nobody is guessed: who looks at a store as
// another than the loader may leave files there that the loader cannot open.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/doctor/situation.hpp"

namespace keysieve {

// Nothing where there is no such file or folder. A symbolic link's is its own.
std::optional<uid_t> owner_of(const std::string& path);
// Nothing also where others may write to it.
std::optional<uid_t> sole_owner(const std::string& path);

// Whom a set's folder belongs to, published or not; nothing while there is none.
std::optional<uid_t> owner_of_set(const Situation& situation, const std::string& set_name);

// Whether a folder holds what every published set has, or cannot be looked into. Anybody may make an empty
// one in a volume.
bool may_be_published(const std::string& folder);

// Whom the published sets belong to, with a folder of each; while there is none, who will publish.
std::map<uid_t, std::string> publishers_of(const Situation& situation);

// Of the configuration, if there is one: as a running one, else as whom the directory or the folders of its
// sets belong to, else as the sole owner of its cache; nothing where folders belong to several. What is
// root's tells nothing: he may have published by hand, or made a folder for the loader.
std::optional<User> loader_of(const Situation& situation);

}  // namespace keysieve
