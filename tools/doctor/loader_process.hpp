// What /proc tells of the running keysieved.
#pragma once

#include <string>
#include <vector>

#include "tools/doctor/user.hpp"

namespace keysieve {

struct LoaderProcess {
  std::string path;  // "/proc/<pid>"
  User user;         // whose rights it has
};

// Every keysieved that runs with this configuration, however its command line names it, and publishes in the
// directory that this process knows by that name. Only root sees those of other users.
std::vector<LoaderProcess> loaders_with(const std::string& config_path, const std::string& directory);

// Whether another has taken its place on disk since it started; as far as this process may know.
bool is_program_replaced(const LoaderProcess& loader);

}  // namespace keysieve
