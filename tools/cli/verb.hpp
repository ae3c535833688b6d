// The verbs of keysieve, each a class in the file of its name. declare() adds its options and arguments,
// whose values are members. run() does what they ask for, reports it, and returns the exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "core/worker/base/error.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/program/units.hpp"

namespace keysieve {

struct Verb {
  const char* name;
  const char* description;
  const char* examples;  // end its --help
  void (*prepare)(CLI::App* verb, int& exit_status);
  int error_status = 0;  // of any error, where the verb has statuses of its own; 0: as exit_status_of() says
};

template <typename Class>
void prepare(CLI::App* verb, int& exit_status) {
  const auto prepared = std::make_shared<Class>();
  prepared->declare(verb);
  verb->callback([prepared, &exit_status] { exit_status = prepared->run(); });
}

}  // namespace keysieve
