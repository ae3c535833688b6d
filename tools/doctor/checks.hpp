// The checks of a doctor: each looks at one thing and adds what it finds. A new one is a function, named here
// and in the list of checks.cpp.
#pragma once

#include "tools/doctor/findings.hpp"
#include "tools/doctor/situation.hpp"

namespace keysieve {

// Of the directory.
void check_directory(const Situation& situation, Findings& findings);
void check_file_system(const Situation& situation, Findings& findings);
void check_room(const Situation& situation, Findings& findings);
void check_huge_pages(const Situation& situation, Findings& findings);
void check_memory(const Situation& situation, Findings& findings);

// Of what is published in it.
void check_sets(const Situation& situation, Findings& findings);
void check_heartbeats(const Situation& situation, Findings& findings);
void check_clock(const Situation& situation, Findings& findings);

// Of the loader; these need its configuration.
void check_configuration(const Situation& situation, Findings& findings);
void check_loader_process(const Situation& situation, Findings& findings);
void check_set_folders(const Situation& situation, Findings& findings);
void check_memory_limit(const Situation& situation, Findings& findings);  // of this process without one
void check_cache(const Situation& situation, Findings& findings);
void check_stores(const Situation& situation, Findings& findings);

// Of whom the sets are for; all but the first need a worker.
void check_access(const Situation& situation, Findings& findings);
void check_extension(const Situation& situation, Findings& findings);
void check_settings(const Situation& situation, Findings& findings);
void check_worker_sets(const Situation& situation, Findings& findings);
void check_worker_clock(const Situation& situation, Findings& findings);
void check_confinement(const Situation& situation, Findings& findings);

// Gathers and runs all of them. Throws Usage.
Findings examine(const DoctorQuestion& question);

}  // namespace keysieve
