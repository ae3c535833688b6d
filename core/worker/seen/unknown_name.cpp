#include "core/worker/seen/unknown_name.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <vector>

#include "core/worker/base/nearest_name.hpp"
#include "core/worker/base/set_name.hpp"
#include "core/worker/seen/seen_page.hpp"

namespace keysieve {
namespace {

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// False too if that cannot be found out.
bool is_missing(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) != 0 && errno == ENOENT;
}

// Sorted, so that of two names that are equally near the same one is suggested each time. Nothing if they
// cannot be listed. Without std::filesystem, whose iterators musl cannot load.
std::optional<std::vector<std::string>> sets_below(const std::string& folder) {
  const auto close_stream = [](DIR* stream) { ::closedir(stream); };
  const std::unique_ptr<DIR, decltype(close_stream)> stream(::opendir(folder.c_str()), close_stream);
  if (stream == nullptr) return std::nullopt;
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream.get())) {
    std::string path = folder;
    path.append("/").append(entry->d_name);
    if (is_set_name(entry->d_name) && is_folder(path)) names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::string about_unknown_name(const std::string& directory, const std::string& name, SetType type) {
  const bool is_seen = type == SetType::Seen;
  const std::string seen = seen_directory(directory);
  const std::string& own = is_seen ? seen : directory;
  if (!sets_below(directory) || !is_missing(own + "/" + name)) return "";
  if (is_folder((is_seen ? directory : seen) + "/" + name)) {
    return is_seen ? "it is a published set: use KeySieve\\Set" : "it is a seen set: use KeySieve\\SeenSet";
  }
  const std::string text = is_seen ? "no seen set has this name" : "no set has this name";
  const auto nearest = nearest_name(name, sets_below(own).value_or(std::vector<std::string>()));
  return nearest ? text + ", did you mean \"" + *nearest + "\"?" : text;
}

}  // namespace keysieve
