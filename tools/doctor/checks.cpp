#include "tools/doctor/checks.hpp"

#include <array>
#include <exception>

namespace keysieve {
namespace {

struct NamedCheck {
  const char* subject;  // of the finding that it could not be done
  void (*run)(const Situation&, Findings&);
};

constexpr std::array kChecks{
    NamedCheck{"directory", check_directory},
    NamedCheck{"file system", check_file_system},
    NamedCheck{"room", check_room},
    NamedCheck{"huge pages", check_huge_pages},
    NamedCheck{"memory", check_memory},
    NamedCheck{"sets", check_sets},
    NamedCheck{"loader", check_heartbeats},
    NamedCheck{"clock", check_clock},
    NamedCheck{"configuration", check_configuration},
    NamedCheck{"loader", check_loader_process},
    NamedCheck{"folders", check_set_folders},
    NamedCheck{"memory limit", check_memory_limit},
    NamedCheck{"cache", check_cache},
    NamedCheck{"stores", check_stores},
    NamedCheck{"extension", check_extension},
    NamedCheck{"settings", check_settings},
    NamedCheck{"access", check_access},
    NamedCheck{"worker", check_worker_sets},
    NamedCheck{"clock", check_worker_clock},
    NamedCheck{"confinement", check_confinement},
};

}  // namespace

Findings examine(const DoctorQuestion& question) {
  Findings findings;
  const Situation situation = gather(question, findings);
  for (const NamedCheck& check : kChecks) {
    try {
      check.run(situation, findings);
    } catch (const std::exception& error) {
      findings.fail(check.subject, error.what(), "");
    }
  }
  return findings;
}

}  // namespace keysieve
