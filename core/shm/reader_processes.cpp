#include "core/shm/reader_processes.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <tuple>

#include "core/base/error.hpp"
#include "core/base/set_name.hpp"
#include "core/shm/set_folder.hpp"

namespace keysieve {
namespace {

constexpr std::string_view kRemoved = " (deleted)";

// Where the directory is a mount of its own its device tells which mappings are of it, whatever path a
// process in another root or mount namespace knows them by; else the path does.
struct Place {
  std::string path;  // with a slash at its end
  bool is_own_mount = false;
  dev_t device = 0;
};

Place place_of(const std::string& directory) {
  struct stat here {};
  struct stat above {};
  std::error_code failure;
  const auto path = std::filesystem::canonical(directory, failure);
  if (failure) throw_read_error("directory " + directory, failure.value());
  if (::stat(path.c_str(), &here) != 0 || ::stat(path.parent_path().c_str(), &above) != 0) {
    throw_read_error("directory " + directory, errno);
  }
  return {path.string() + "/", here.st_dev != above.st_dev, here.st_dev};
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A line as "7f00-7f20 r--s 00000000 00:19 1234      /run/keysieve/tags/0000000000000001.ks (deleted)".
std::optional<ReaderProcess> mapping_of(const std::string& line, const Place& place) {
  std::istringstream words(line);
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  unsigned device_major = 0;
  unsigned device_minor = 0;
  char mark = 0;
  std::string rights;
  std::string offset;
  std::string inode;
  words >> std::hex >> begin >> mark >> end >> rights >> offset >> device_major >> mark >> device_minor >>
      inode >> std::ws;
  std::string path;
  std::getline(words, path);
  const bool is_there =
      place.is_own_mount ? place.device == makedev(device_major, device_minor) : path.starts_with(place.path);
  if (!is_there) return std::nullopt;
  ReaderProcess reader;
  reader.bytes = end - begin;
  reader.is_removed = path.ends_with(kRemoved);
  if (reader.is_removed) path.resize(path.size() - kRemoved.size());
  const std::filesystem::path file = path;
  const auto publication = publication_of_file(file.filename().string());
  reader.set_name = file.parent_path().filename().string();
  if (!publication || file.extension() != ".ks" || !is_set_name(reader.set_name)) return std::nullopt;
  reader.publication = *publication;
  return reader;
}

// php-fpm writes the pool's name there; other programs have NUL between their arguments.
std::string program_of(const std::string& process) {
  std::string program = text_of(process + "/cmdline");
  program.erase(program.find_last_not_of('\0') + 1);
  std::replace(program.begin(), program.end(), '\0', ' ');
  return program;
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

// The 22nd word, the 20th behind the name in brackets, in ticks since then.
UnixSeconds start_of(const std::string& process) {
  const std::string stat = text_of(process + "/stat");
  std::istringstream words(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::string word;
  for (int i = 0; i < 20; ++i) words >> word;
  UnixSeconds ticks = 0;
  std::from_chars(word.data(), word.data() + word.size(), ticks);
  return boot_time() + ticks / ::sysconf(_SC_CLK_TCK);
}

void describe(ReaderProcess& reader, pid_t pid, const std::string& process) {
  struct stat status {};
  if (::stat(process.c_str(), &status) == 0) reader.uid = status.st_uid;
  reader.pid = pid;
  reader.program = program_of(process);
  reader.started_at = start_of(process);
}

void add_readers(ReaderProcesses& found, pid_t pid, const Place& place) {
  const std::string process = "/proc/" + std::to_string(pid);
  errno = 0;
  std::ifstream maps(process + "/maps");
  std::string line;
  if (!std::getline(maps, line)) {  // a thread of the kernel has none, one that has just ended neither
    found.unreadable += errno == EACCES || errno == EPERM ? 1 : 0;
    return;
  }
  do {
    auto reader = mapping_of(line, place);
    if (!reader) continue;
    describe(*reader, pid, process);
    found.readers.push_back(std::move(*reader));
  } while (std::getline(maps, line));
}

auto order_of(const ReaderProcess& reader) {
  return std::tie(reader.set_name, reader.publication, reader.pid);
}

// A process with several readers of a set has it mapped several times.
void sort_once_each(std::vector<ReaderProcess>& readers) {
  std::sort(readers.begin(), readers.end(),
            [](const auto& a, const auto& b) { return order_of(a) < order_of(b); });
  const auto same = [](const auto& a, const auto& b) { return order_of(a) == order_of(b); };
  readers.erase(std::unique(readers.begin(), readers.end(), same), readers.end());
}

}  // namespace

ReaderProcesses reader_processes(const std::string& directory) {
  const Place place = place_of(directory);
  ReaderProcesses found;
  std::error_code failure;
  for (std::filesystem::directory_iterator at("/proc", failure), end; !failure && at != end;
       at.increment(failure)) {
    const std::string name = at->path().filename();
    pid_t pid = 0;
    const auto [last, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    const bool is_process = error == std::errc{} && last == name.data() + name.size();
    if (is_process && pid != ::getpid()) add_readers(found, pid, place);
  }
  if (failure) throw_read_error("/proc", failure.value());
  sort_once_each(found.readers);
  return found;
}

}  // namespace keysieve
