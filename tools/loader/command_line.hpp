// The command line of keysieved.
#pragma once

#include <optional>
#include <string>

#include "tools/loader/config/config.hpp"

namespace keysieve {

struct LoaderCommandLine {
  std::string config_path{kDefaultConfigPath};
  bool once = false;
  bool check_config = false;
  bool json = false;
  std::optional<std::string> log_level;  // instead of the configuration's

  // --help, --version and wrong arguments have been answered already: end with this.
  std::optional<int> exit_status;
};

LoaderCommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace keysieve
