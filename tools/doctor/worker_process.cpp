#include "tools/doctor/worker_process.hpp"

#include <fstream>
#include <sstream>

namespace keysieve {
namespace {

std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "/proc/<pid>", empty for a process that is none of php-fpm.
std::string process_of(pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  return line_of(process + "/comm").starts_with("php-fpm") ? process : "";
}

}  // namespace

bool is_replaced_in(pid_t pid) {
  std::ifstream maps(process_of(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with("/keysieve.so (deleted)")) return true;
  }
  return false;
}

std::string security_label_of(pid_t pid) {
  const std::string process = process_of(pid);
  if (process.empty()) return "";
  std::string label = line_of(process + "/attr/current");
  label = label.substr(0, label.find('\0'));
  return label == "unconfined" ? "" : label;
}

std::optional<User> user_of(pid_t pid) {
  const std::string process = process_of(pid);
  return process.empty() ? std::nullopt : user_of_process(process);
}

std::optional<std::uint64_t> address_space_of(pid_t pid) {
  const std::string process = process_of(pid);
  if (process.empty()) return std::nullopt;
  std::ifstream limits(process + "/limits");
  constexpr std::string_view kName = "Max address space";
  for (std::string line; std::getline(limits, line);) {
    if (!line.starts_with(kName)) continue;
    std::uint64_t bytes = 0;
    if (std::istringstream(line.substr(kName.size())) >> bytes) return bytes;
  }
  return std::nullopt;
}

}  // namespace keysieve
