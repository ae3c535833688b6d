// keysieve doctor: what is wrong on this host, as a worker of php-fpm sees it, and what to do.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "core/base/error.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/print_json.hpp"
#include "tools/cli/verbs.hpp"
#include "tools/doctor/checks.hpp"

namespace keysieve {
namespace {

constexpr int kMustBeMended = 1;

struct DoctorOptions {
  DoctorQuestion question;
  WorkerQuestion worker;
  bool json = false;
};

void print_text(const Findings& findings) {
  std::size_t width = 0;
  for (const Finding& finding : findings.list()) width = std::max(width, finding.subject.size());
  for (const Finding& finding : findings.list()) {
    fmt::print("{:<7}  {:<{}}  {}\n", to_string(finding.severity), finding.subject, width, finding.seen);
    if (!finding.remedy.empty()) fmt::print("{:<{}}→ {}\n", "", width + 11, finding.remedy);
  }
}

void doctor(DoctorOptions& options, Outcome& outcome) {
  if (!options.worker.address.empty()) options.question.worker = options.worker;
  const Findings findings = examine(options.question);
  if (options.json) {
    print_json({{"directory", options.question.directory},
                {"health", to_string(findings.worst())},
                {"findings", findings.to_json()}});
  } else {
    print_text(findings);
  }
  if (findings.worst() == Severity::Error) outcome.exit_status = kMustBeMended;
}

}  // namespace

void add_doctor(CLI::App& program, Outcome& outcome) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* verb = add_verb(
      program, "doctor", "Say what is wrong on this host, and what to do about it",
      "  keysieve doctor --fastcgi unix:/run/php/php8.2-fpm.sock --config /etc/keysieve/keysieve.toml\n"
      "  keysieve doctor --fastcgi 127.0.0.1:9000 --script-folder /var/www/html\n"
      "  keysieve doctor --as www-data\n"
      "  keysieve doctor --json | jq '.findings[] | select(.health != \"ok\")'\n"
      "Ask as root: only root can look as the worker and as the loader do. Exit status: 0 nothing must be "
      "mended,\n"
      "though there may be warnings; 1 something must be.");
  add_directory(verb, options->question.directory);
  auto* fastcgi = verb->add_option("--fastcgi", options->worker.address,
                                   "Ask a worker of php-fpm there: unix:/path or host:port")
                      ->type_name("ADDRESS");
  verb->add_option("--script-folder", options->worker.script_folder,
                   "Where the worker finds the script that it is asked by, for the length of one request")
      ->type_name("DIR")
      ->capture_default_str()
      ->needs(fastcgi);
  verb->add_option("--chroot", options->worker.chroot, "That of the pool")->type_name("DIR")->needs(fastcgi);
  verb->add_option("--config", options->question.config_path,
                   "Look also at stores and cache of this configuration of keysieved")
      ->type_name("FILE");
  verb->add_option("--as", options->question.reader,
                   "See whether this user can read the sets, without a worker")
      ->type_name("USER")
      ->excludes(fastcgi);
  add_json(verb, options->json);
  verb->callback([options, &outcome] { doctor(*options, outcome); });
}

}  // namespace keysieve
