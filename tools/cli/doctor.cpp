// keysieve doctor: facts about a host, as the user who runs it sees them.
#include "tools/doctor/doctor.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <sstream>

#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"

namespace keysieve {
namespace {

constexpr int kFoundAnError = 1;

struct DoctorOptions {
  std::string directory;
  std::optional<std::string> config_path;
};

// Each line begins with its severity.
void print_in_colour(const Findings& findings) {
  std::istringstream lines(findings.to_text());
  for (std::string line; std::getline(lines, line);) {
    const std::string severity = line.substr(0, line.find(' '));
    const Colour colour = severity == to_string(Severity::Error)     ? Colour::Red
                          : severity == to_string(Severity::Warning) ? Colour::Yellow
                                                                     : Colour::None;
    fmt::print("{}{}\n", coloured(severity, colour, stdout), line.substr(severity.size()));
  }
}

void doctor(const DoctorOptions& options, VerbResult& result) {
  const Findings findings = examine(options.directory, options.config_path);
  if (is_said_as_json()) {
    print_json({{"directory", options.directory},
                {"severity", to_string(findings.worst())},
                {"findings", findings.to_json()}});
  } else {
    print_in_colour(findings);
  }
  if (findings.worst() == Severity::Error) result.exit_status = kFoundAnError;
}

}  // namespace

void add_doctor(CLI::App& program, VerbResult& result) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* verb =
      add_verb(program, "doctor",
               "Check this host as the current user sees it; each problem names its section of the runbook",
               "  sudo -u www-data keysieve doctor\n"
               "  sudo -u keysieve keysieve doctor --config /etc/keysieve/keysieve.toml\n"
               "  keysieve doctor --json | jq '.findings[] | select(.severity != \"ok\")'\n"
               "It sees what its user may see: run it as the PHP workers' user and as the loader's user. "
               "Exit status:\n"
               "0 without errors (there may be warnings), 1 with errors.");
  add_directory(verb, options->directory);
  verb->add_option("--config", options->config_path,
                   "Also check the sets, the cache and the stores in this configuration of keysieved")
      ->type_name("FILE");
  verb->callback([options, &result] { doctor(*options, result); });
}

}  // namespace keysieve
