// What to do about the folder of a set that belongs to another than who publishes in the directory. A folder
// is only known to be keysieved's by its configuration: any other in a directory looks like a set's.
#pragma once

#include <string>

#include "tools/doctor/situation.hpp"

namespace keysieve {

// Whether the configuration names it, or it holds what every set has.
bool is_known_as_set(const Situation& situation, const std::string& set_name);

// What to ask about a folder that nothing shows to be a set's: no command.
std::string whose_is_it(const Situation& situation);

// Commands, once obeyed, after which the loader that runs publishes there, and is believed; none where they
// could reach what is not keysieved's, or would keep it out.
std::string remedy_of_foreign_folder(const Situation& situation, const std::string& set_name);

}  // namespace keysieve
