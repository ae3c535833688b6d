// Who publishes in the directory, as far as anything tells. Nobody is guessed: who looks at a store as
// another than the loader may leave files there that the loader cannot open.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/doctor/situation.hpp"

namespace keysieve {

// Nothing where there is no such file or folder. A symbolic link's is its own.
std::optional<uid_t> owner_of(const std::string& path);

// Whom a set's folder belongs to, published or not; nothing while there is none.
std::optional<uid_t> owner_of_set(const Situation& situation, const std::string& set_name);

// Whom the sets belong to, or will: the directory's own user where nobody else may write to it, else a set's,
// the cache's, that of a running keysieved. Root only if no other is seen: he makes volumes for others.
std::optional<uid_t> publisher_of(const Situation& situation);

// Every keysieved that is seen to run with the configuration, if there is one.
std::vector<User> running_loaders(const Situation& situation);

// As whom the loader of the configuration, which there must be, looks at cache and stores: a running one,
// else the publisher; root, who may have published by hand, only if the cache is his alone.
std::optional<User> loader_of(const Situation& situation);

}  // namespace keysieve
