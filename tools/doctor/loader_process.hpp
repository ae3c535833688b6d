// What /proc tells of the running keysieved. A process is "/proc/<pid>".
#pragma once

#include <string>
#include <vector>

namespace keysieve {

// Every keysieved that runs with this configuration, however its command line names it, and publishes in the
// directory that this process knows by that name. Only root sees those of other users.
std::vector<std::string> loaders_with(const std::string& config_path, const std::string& directory);

// Whether another has taken its place on disk since it started; as far as this process may know.
bool is_program_replaced(const std::string& process);

}  // namespace keysieve
