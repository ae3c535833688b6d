// The configuration of keysieved: one TOML file and the files conf.d/*.toml next to it. Everything is checked
// when it is loaded, so that --check-config and a reload refuse what a running loader could not use.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/worker/shm/set_folder.hpp"
#include "tools/loader/config/seen_config.hpp"
#include "tools/signatures/public_keys.hpp"
#include "tools/transfer/guards.hpp"

namespace keysieve {

inline constexpr const char* kDefaultConfigPath = "/etc/keysieve/keysieve.toml";
inline constexpr const char* kDefaultCache = "/var/cache/keysieve";

struct StoreConfig {
  std::string name;
  std::string url;    // may hold a password: never printed
  std::string shown;  // the URL without password and query
  std::chrono::milliseconds poll_interval{5000};
};

// [[set]] in the configuration.
struct SetConfig {
  std::string name;
  std::string store{};          // name of one of LoaderConfig::stores
  std::uint64_t max_bytes = 0;  // of a snapshot; 0: no limit
  PublicKeys public_keys{};
  Guards guards{};
};

// Where HTTP is answered.
struct StatusConfig {
  std::string listen;          // see checked_listen_address()
  std::optional<gid_t> group;  // that may connect to a unix socket; nothing: keysieved's own
};

struct LoaderConfig {
  std::string directory{kDefaultDirectory};
  std::string cache{kDefaultCache};
  std::optional<gid_t> group;
  std::chrono::milliseconds poll_interval{5000};  // of stores that have no longer default
  std::uint64_t max_total_bytes = 0;              // 0: no limit
  std::string log_level = "info";
  std::optional<StatusConfig> status;
  std::vector<StoreConfig> stores;
  std::vector<SetConfig> sets;
  std::vector<SeenConfig> seen;
  bool is_once = false;  // not from a file: --once promises no next look
};

// Throws Config "<file>:<line>: <key>: <reason>".
LoaderConfig load_config(const std::string& path);

// What --check-config prints: the configuration as it was understood, defaults filled in, no passwords.
std::string summary_text(const LoaderConfig& config);

// Root may write anywhere, but not as a loader beside the one of the service: that user could not go on with
// what root has made. Throws Permission that names the user if this is root, and the directory, the cache or
// the folder of a configured set belongs to another user.
void check_loader_user(const LoaderConfig& config);

// Returns the name; throws Usage unless it is debug, info, warning or error.
std::string checked_log_level(const std::string& name);

}  // namespace keysieve
