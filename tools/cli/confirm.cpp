#include "tools/cli/confirm.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "core/worker/base/error.hpp"
#include "tools/cli/messages.hpp"

namespace keysieve {

bool is_confirmed(const std::string& question, const std::string& without_terminal) {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1) {
    throw Error(ErrorKind::Usage, without_terminal + "; --yes does it without a terminal");
  }
  fmt::print(stderr, "{} [y/N] ", question);
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return true;
  print_note("nothing is changed");
  return false;
}

}  // namespace keysieve
