#include "tools/status/reader_processes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/publisher/shm/publisher_folder.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/set_name.hpp"
#include "core/worker/shm/control_file.hpp"
#include "tools/status/directory_status.hpp"
#include "tools/status/process.hpp"

namespace keysieve {
namespace {

// Tells a mapping of the directory from one of another. A process in another root, mount namespace or bind
// mount sees it under another path, and the same path may be another file system there.
struct Place {
  std::string path;                        // with a slash at its end
  std::optional<dev_t> own_device;         // if the directory is a mount of its own
  std::set<dev_t> devices;                 // of its files, as stat(2) and the mappings give them
  std::map<FileId, std::string> controls;  // of its sets; all readers of a set map its control page
};

// A folder as one process sees it, and the name of its set.
using Folders = std::map<std::pair<dev_t, std::string>, std::string>;

std::pair<dev_t, std::string> folder_of(const MappedFile& file) {
  return {file.id.device, std::filesystem::path(file.path).parent_path()};
}

// Maps them here, so that the kernel names them as it does for the readers.
void add_controls(Place& place, const std::string& directory) {
  std::map<std::uint64_t, std::string> names;
  std::vector<ControlFile> controls;
  for (const std::string& name : sets_in(directory)) {
    try {
      controls.push_back(
          ControlFile::open_read_only(SetFolder::open(directory, name, trusted_owner_of(directory, name))));
      names[reinterpret_cast<std::uintptr_t>(&controls.back().page())] = name;
    } catch (const Error&) {  // no reader trusts it either, or has attached the set through it
    }
  }
  const auto files = files_mapped_by(::getpid());
  if (!files) return;
  for (const MappedFile& file : *files) {
    const auto control = names.find(file.begin);
    if (control == names.end()) continue;
    place.devices.insert(file.id.device);
    place.controls[file.id] = control->second;
  }
}

Place place_of(const std::string& directory) {
  struct stat here {};
  struct stat above {};
  std::error_code failure;
  const auto path = std::filesystem::canonical(directory, failure);
  if (failure) throw_read_error("directory " + directory, failure.value());
  if (::stat(path.c_str(), &here) != 0 || ::stat(path.parent_path().c_str(), &above) != 0) {
    throw_read_error("directory " + directory, errno);
  }
  Place place{path.string() + "/", {}, {here.st_dev}, {}};
  if (here.st_dev != above.st_dev) place.own_device = here.st_dev;
  add_controls(place, directory);
  return place;
}

// Folders that hold a control page of the place.
Folders folders_of(const std::vector<MappedFile>& files, const Place& place) {
  Folders folders;
  for (const MappedFile& file : files) {
    const auto control = place.controls.find(file.id);
    if (control != place.controls.end()) folders[folder_of(file)] = control->second;
  }
  return folders;
}

// A file may belong to the place even if its folder has no control page, because that may have been removed
// since.
std::optional<std::string> set_of(const MappedFile& file, const Folders& folders, const Place& place) {
  const auto known = folders.find(folder_of(file));
  if (known != folders.end()) return known->second;
  const bool is_there = file.id.device == place.own_device ||
                        (file.path.starts_with(place.path) && place.devices.contains(file.id.device));
  const std::string name = std::filesystem::path(file.path).parent_path().filename();
  return is_there && is_set_name(name) ? std::optional(name) : std::nullopt;
}

std::vector<ReaderProcess> publications_in(const std::vector<MappedFile>& files, const Place& place) {
  std::vector<ReaderProcess> found;
  const Folders folders = folders_of(files, place);
  for (const MappedFile& file : files) {
    const std::filesystem::path path = file.path;
    const auto publication = publication_of_file(path.filename().string());
    if (!publication || path.extension() != ".ks") continue;
    const auto set_name = set_of(file, folders, place);
    if (!set_name) continue;
    ReaderProcess reader;
    reader.set_name = *set_name;
    reader.publication = *publication;
    reader.bytes = file.bytes;
    reader.is_removed = file.is_removed;
    found.push_back(std::move(reader));
  }
  return found;
}

void add_readers(ReaderProcesses& found, pid_t pid, const Place& place) {
  const auto files = files_mapped_by(pid);
  if (!files) {
    ++found.unreadable;
    return;
  }
  std::vector<ReaderProcess> readers = publications_in(*files, place);
  if (readers.empty()) return;
  const auto facts = facts_of(pid);
  if (!facts) return;
  for (ReaderProcess& reader : readers) {
    reader.pid = pid;
    reader.uid = facts->uid;
    reader.program = facts->program;
    reader.started_at = facts->started_at;
    found.readers.push_back(std::move(reader));
  }
}

auto order_of(const ReaderProcess& reader) {
  return std::tie(reader.set_name, reader.publication, reader.pid);
}

// A process with several readers of a set maps it several times.
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
  for (const pid_t pid : process_ids()) {
    if (pid != ::getpid()) add_readers(found, pid, place);
  }
  sort_once_each(found.readers);
  return found;
}

}  // namespace keysieve
