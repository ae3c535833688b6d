// What the checks look at, gathered once: what is asked, what lies in the directory, and, where it is asked
// for, what a worker of php-fpm and the loader's configuration say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/doctor/loader_process.hpp"
#include "tools/doctor/worker.hpp"
#include "tools/loader/config.hpp"
#include "tools/status/set_status.hpp"

namespace keysieve {

struct DoctorQuestion {
  std::string directory;
  std::optional<WorkerQuestion> worker;
  std::optional<std::string> config_path;
  std::optional<std::string> reader;  // name or uid of whom the sets must be readable for
};

// Of the snapshot that is published; 0: none is.
inline std::uint64_t bytes_of(const SetStatus& set) noexcept {
  return set.published ? set.published->bytes : 0;
}

struct Situation {
  DoctorQuestion question;
  UnixSeconds now = 0;
  bool has_directory = false;
  std::vector<SetStatus> sets;  // of the directory and of the configuration; without it their names alone
  std::optional<LoaderConfig> config;
  std::vector<LoaderProcess> loaders;  // that are seen to run with it
  std::optional<Worker> worker;
  std::optional<User> reader;  // the worker, or whom --as names

  // Three publications of every set: the current one, the next, and one that somebody still reads.
  [[nodiscard]] std::uint64_t wanted_bytes() const;
  // Of those that are published; nullptr when none is.
  [[nodiscard]] const SetStatus* largest() const;
  // Whether it can be held against PHP's: it is there, or the configuration names it.
  [[nodiscard]] bool is_right_directory() const;
  // Whether that is the directory of the configuration, which there must be.
  [[nodiscard]] bool loader_publishes_here() const;
  // The configuration, if it is one of this directory; else nullptr.
  [[nodiscard]] const LoaderConfig* config_of_this() const;
  // Whether that names the set, so that its folder here is keysieved's.
  [[nodiscard]] bool is_configured(const std::string& set_name) const;
  // Whether the worker, which there must be, reads this directory, as far as this process, which may live in
  // another container, can tell.
  [[nodiscard]] bool worker_reads_this() const;
};

// What cannot be had becomes a finding.
Situation gather(const DoctorQuestion& question, Findings& findings);

}  // namespace keysieve
