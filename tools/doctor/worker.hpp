// A worker of php-fpm, as it sees itself: asked by one request that runs a small script there.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/doctor/user.hpp"

namespace keysieve {

struct WorkerQuestion {
  std::string address;                 // of ask_fastcgi()
  std::string script_folder = "/tmp";  // where the worker finds the script, in its own root
  std::string chroot;                  // of the pool; empty: none
};

struct WorkerSet {
  std::string availability;  // name of the case of KeySieve\Availability
  std::uint64_t publication = 0;
};

struct Worker {
  std::string php_version;
  std::string sapi;
  bool is_thread_safe = false;
  pid_t pid = 0;        // in its own namespace; 0: it may not tell
  double clock = 0;     // Unix seconds
  double asked_at = 0;  // ours, before and after it was asked
  double answered_at = 0;
  std::optional<User> user;       // nothing when nobody can tell
  std::string extension_version;  // empty: not loaded
  std::string snapshot_formats;   // that it reads
  std::string instruction_set;    // KEYSIEVE_INSTRUCTION_SET of its environment
  std::string open_basedir;
  bool is_enabled = false;
  std::string directory;
  std::string owner;
  std::map<std::string, WorkerSet> sets;

  [[nodiscard]] std::string php_minor() const;  // "8.2" of "8.2.30"
  // The command that restarts its php-fpm as Debian names it.
  [[nodiscard]] std::string restart() const;
};

// Throws as ask_fastcgi(), CannotCreate when the script cannot be written, Data when something else
// answers than the script, Config when the script fails under the settings of PHP.
Worker ask_worker(const WorkerQuestion& question, const std::vector<std::string>& set_names);

}  // namespace keysieve
