#include "core/seen/unknown_name.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "core/base/nearest_name.hpp"
#include "core/base/set_name.hpp"
#include "core/seen/seen_page.hpp"

namespace keysieve {
namespace {

bool is_folder(const std::string& path) {
  std::error_code failure;
  return std::filesystem::is_directory(path, failure);
}

// False too if that cannot be found out.
bool is_missing(const std::string& path) {
  std::error_code failure;
  return std::filesystem::symlink_status(path, failure).type() == std::filesystem::file_type::not_found;
}

// Sorted, so that of two names that are equally near the same one is suggested each time. Nothing if they
// cannot be listed.
std::vector<std::string> sets_below(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    const std::string name = at->path().filename().string();
    if (is_set_name(name) && is_folder(at->path().string())) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool can_be_listed(const std::string& folder) {
  std::error_code failure;
  const std::filesystem::directory_iterator first(folder, failure);
  return !failure;
}

}  // namespace

std::string about_unknown_name(const std::string& directory, const std::string& name, SetType type) {
  const bool is_seen = type == SetType::Seen;
  const std::string seen = seen_directory(directory);
  const std::string& own = is_seen ? seen : directory;
  if (!can_be_listed(directory) || !is_missing(own + "/" + name)) return "";
  if (is_folder((is_seen ? directory : seen) + "/" + name)) {
    return is_seen ? "it is a published set: use KeySieve\\Set" : "it is a seen set: use KeySieve\\SeenSet";
  }
  const std::string text = is_seen ? "no seen set has this name" : "no set has this name";
  const auto nearest = nearest_name(name, sets_below(own));
  return nearest ? text + ", did you mean \"" + *nearest + "\"?" : text;
}

}  // namespace keysieve
