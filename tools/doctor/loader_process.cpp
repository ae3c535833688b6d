#include "tools/doctor/loader_process.hpp"

#include <filesystem>
#include <fstream>

#include "tools/loader/config.hpp"
#include "tools/status/process.hpp"

namespace keysieve {
namespace {

bool is_loader(const std::string& process) {
  std::ifstream file(process + "/comm");
  std::string name;
  return std::getline(file, name) && name == "keysieved";
}

// As its command line has it.
std::string config_of(const std::string& process) {
  constexpr std::string_view kOption = "--config";
  std::ifstream file(process + "/cmdline");
  for (std::string word; std::getline(file, word, '\0');) {
    if (word == kOption && std::getline(file, word, '\0')) return word;
    if (word.starts_with(kOption) && word[kOption.size()] == '=') return word.substr(kOption.size() + 1);
  }
  return kDefaultConfigPath;
}

// In its own root, which may be a container's.
std::string path_from_here(const std::string& process, const std::string& path) {
  return process + (path.starts_with('/') ? "/root" : "/cwd/") + path;
}

// Whether it finds there what this process finds here: a container may have the file, and another directory.
bool sees_the_same(const std::string& process, const std::string& path_there, const std::string& path_here) {
  std::error_code failure;
  return std::filesystem::equivalent(path_from_here(process, path_there), path_here, failure);
}

bool is_nowhere(const std::string& process, const std::string& path) {
  std::error_code failure;
  return !std::filesystem::exists(path, failure) &&
         !std::filesystem::exists(path_from_here(process, path), failure);
}

bool runs_with(const std::string& process, const std::string& config_path, const std::string& directory) {
  return sees_the_same(process, config_of(process), config_path) &&
         (sees_the_same(process, directory, directory) || is_nowhere(process, directory));
}

}  // namespace

std::vector<LoaderProcess> loaders_with(const std::string& config_path, const std::string& directory) {
  std::vector<LoaderProcess> found;
  for (const pid_t pid : process_ids()) {
    const std::string process = "/proc/" + std::to_string(pid);
    if (!is_loader(process) || !runs_with(process, config_path, directory)) continue;
    const auto user = user_of_process(process);
    if (user && facts_of(pid)) found.push_back({process, *user});  // not one that has ended
  }
  return found;
}

bool is_program_replaced(const LoaderProcess& loader) {
  std::error_code failure;
  return std::filesystem::read_symlink(loader.path + "/exe", failure).native().ends_with(" (deleted)");
}

}  // namespace keysieve
