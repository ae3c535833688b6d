#include "tools/loader/config/config.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/worker/base/error.hpp"
#include "core/worker/seen/seen_page.hpp"
#include "tools/program/accounts.hpp"

namespace keysieve {

void check_loader_user(const LoaderConfig& config) {
  if (::geteuid() != 0) return;
  std::vector<std::string> paths{config.directory, config.cache};
  for (const SetConfig& set : config.sets) paths.push_back(config.directory + "/" + set.name);
  for (const SeenConfig& seen : config.seen)
    paths.push_back(seen_directory(config.directory) + "/" + seen.name);
  for (const std::string& path : paths) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || status.st_uid == 0) continue;
    const std::string user = user_name(status.st_uid);
    const bool has_name = user != std::to_string(status.st_uid);
    throw Error(
        ErrorKind::Permission,
        fmt::format("{} belongs to {}, and this is root: start the service (systemctl start keysieved), or "
                    "run it as that user (sudo -u {} keysieved)",
                    path, user, has_name ? user : "'#" + user + "'"));
  }
}

}  // namespace keysieve
