#include "tools/status/process.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "core/builder/base/folder_names.hpp"
#include "core/worker/base/error.hpp"
#include "tools/program/printable.hpp"

namespace keysieve {
namespace {

constexpr std::string_view kRemoved = " (deleted)";

std::string folder_of(pid_t pid) {
  return "/proc/" + std::to_string(pid);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Parses a line such as "7f00-7f20 r--s 00000000 00:19 1234      /run/keysieve/tags/0000000000000001.ks
// (deleted)"; nothing if the memory does not belong to a file.
std::optional<MappedFile> mapped_file(const std::string& line) {
  std::istringstream words(line);
  MappedFile file;
  std::uint64_t end = 0;
  unsigned device_major = 0;
  unsigned device_minor = 0;
  char mark = 0;
  std::string rights;
  std::string offset;
  words >> std::hex >> file.begin >> mark >> end >> rights >> offset >> device_major >> mark >>
      device_minor >> std::dec >> file.id.inode >> std::ws;
  std::getline(words, file.path);
  if (!file.path.starts_with('/')) return std::nullopt;
  file.id.device = makedev(device_major, device_minor);
  file.bytes = end - file.begin;
  file.is_removed = file.path.ends_with(kRemoved);
  if (file.is_removed) file.path.resize(file.path.size() - kRemoved.size());
  return file;
}

// php-fpm writes the pool's name there; other programs have NUL between their arguments.
std::string program_of(pid_t pid) {
  std::string program = text_of(folder_of(pid) + "/cmdline");
  program.erase(program.find_last_not_of('\0') + 1);
  std::replace(program.begin(), program.end(), '\0', ' ');
  return printable(program);
}

// "btime 1700000000" is when the host started.
UnixSeconds boot_time() {
  std::ifstream file("/proc/stat");
  UnixSeconds moment = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("btime ")) std::from_chars(line.data() + 6, line.data() + line.size(), moment);
  }
  return moment;
}

// Reads behind the name in brackets: the state comes first, and 20th the start, in ticks since the host's.
// Nothing when there is no such process, or only its exit status is left.
std::optional<UnixSeconds> start_of(pid_t pid) {
  const std::string stat = text_of(folder_of(pid) + "/stat");
  std::istringstream words(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  char state = 'X';
  words >> state;
  if (state == 'X' || state == 'Z') return std::nullopt;
  std::string word;
  for (int i = 1; i < 20; ++i) words >> word;
  UnixSeconds ticks = 0;
  std::from_chars(word.data(), word.data() + word.size(), ticks);
  return boot_time() + ticks / ::sysconf(_SC_CLK_TCK);
}

}  // namespace

std::vector<pid_t> process_ids() {
  std::vector<pid_t> found;
  std::error_code failure;
  for (const std::string& name : names_in("/proc", failure)) {
    pid_t pid = 0;
    const auto [last, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc{} && last == name.data() + name.size()) found.push_back(pid);
  }
  if (failure) throw_read_error("/proc", failure.value());
  return found;
}

std::optional<std::vector<MappedFile>> files_mapped_by(pid_t pid) {
  std::vector<MappedFile> files;
  errno = 0;
  std::ifstream maps(folder_of(pid) + "/maps");
  std::string line;
  if (!std::getline(maps, line) && (errno == EACCES || errno == EPERM)) return std::nullopt;
  for (; maps; std::getline(maps, line)) {
    if (auto file = mapped_file(line)) files.push_back(std::move(*file));
  }
  return files;
}

std::optional<ProcessFacts> facts_of(pid_t pid) {
  struct stat status {};
  if (::stat(folder_of(pid).c_str(), &status) != 0) return std::nullopt;
  ProcessFacts facts{.uid = status.st_uid, .program = program_of(pid)};
  const auto started_at = start_of(pid);  // last: it ran until then, so the rest belongs to it
  if (!started_at) return std::nullopt;
  facts.started_at = *started_at;
  return facts;
}

}  // namespace keysieve
