// Log lines go to standard error: with a time for people, with a priority prefix for the journal. They never
// wait for a reader.
#pragma once

#include <string>

namespace keysieve {

void start_logging();
// debug, info, warning or error.
void set_log_level(const std::string& level);

}  // namespace keysieve
