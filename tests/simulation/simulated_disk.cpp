#include "tests/simulation/simulated_disk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

// In place of the C library's.
extern "C" int fsync(int descriptor) {
  if (auto* disk = keysieve::test::SimulatedDisk::there()) disk->has_synced(descriptor);
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace keysieve::test {
namespace {

constexpr std::size_t kSector = 512;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

FileIdentity identity_at(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? identity_of(status) : FileIdentity{};
}

void sync_path(const std::string& path) {
  const FileDescriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ::fsync(opened.get());
}

}  // namespace

SimulatedDisk::Names SimulatedDisk::names_in(const std::string& folder) {
  Names names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names[entry.path().filename()] = identity_at(entry.path());
  return names;
}

void SimulatedDisk::has_synced(int descriptor) {
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  struct stat status {};
  ::fstat(descriptor, &status);
  if (S_ISDIR(status.st_mode)) {
    folders_[identity_of(status)] = names_in(path);
  } else {
    contents_[identity_of(status)] = text_of(path);
  }
}

void SimulatedDisk::lose_power(const std::string& folder, std::mt19937_64& random) {
  const Names now = names_in(folder);
  const Names& before = folders_[identity_at(folder)];
  std::set<std::string> names;
  for (const Names* all : {&now, &before})
    for (const auto& [name, file] : *all) names.insert(name);
  std::map<std::string, std::string> left;
  for (const std::string& name : names) {
    if (!now.contains(name) || !before.contains(name) || now.at(name) != before.at(name)) ++unsynced_;
    const Names& chosen = random() % 2 == 0 ? now : before;
    const auto file = chosen.find(name);
    if (file == chosen.end()) continue;
    const bool is_there = now.contains(name) && now.at(name) == file->second;
    left[name] = left_of(file->second, is_there ? folder + "/" + name : "", random);
  }
  for (const auto& [name, file] : now) {
    std::filesystem::remove_all(folder + "/" + name);
    contents_.erase(file);
  }
  for (const auto& [name, text] : left) {
    const std::string path = folder + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    std::filesystem::permissions(path, std::filesystem::perms(0640));
    sync_path(path);
  }
  sync_path(folder);
}

std::string SimulatedDisk::left_of(FileIdentity file, const std::string& path, std::mt19937_64& random) {
  const auto synced = contents_.find(file);
  const std::string before = synced == contents_.end() ? "" : synced->second;
  const std::string now = path.empty() ? before : text_of(path);
  if (now == before) return now;
  ++unsynced_;
  std::string left((random() % 2 == 0 ? now : before).size(), '\0');
  for (std::size_t at = 0; at < left.size(); at += kSector) {
    const std::string& kept = random() % 2 == 0 ? now : before;
    if (at < kept.size()) kept.copy(left.data() + at, std::min({kSector, left.size() - at}), at);
  }
  return left;
}

}  // namespace keysieve::test
