// Asks on a terminal before a verb does what is not easily undone.
#pragma once

#include <string>

namespace keysieve {

constexpr int kExitDeclined = 1;

// Returns true if the user says yes. Throws Usage "<without_terminal>; --yes does it without a terminal" if
// there is nobody to ask. Says "nothing is changed" if the user says no.
bool is_confirmed(const std::string& question, const std::string& without_terminal);

}  // namespace keysieve
