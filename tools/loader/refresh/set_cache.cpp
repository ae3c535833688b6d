#include "tools/loader/refresh/set_cache.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "core/builder/base/file_io.hpp"
#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "tools/loader/config/private_cache.hpp"
#include "tools/program/durable_file.hpp"
#include "tools/program/memory_left.hpp"

namespace keysieve {
namespace {

constexpr const char* kState = ".state";
// What stands in it, one after the other: the checksum of the rest, two builds, and each signer's newest.
constexpr std::size_t kSeenAt = sizeof(std::uint64_t) + 2 * sizeof(CachedBuild);
constexpr std::size_t kMaxStateBytes = std::size_t{1} << 20;
static_assert(sizeof(CachedBuild) == 24 && sizeof(NewestSeen) == 48, "they are saved as they are");

// Not open: there is none.
FileDescriptor open_for_reading(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.is_open()) {
    check_private(file, path);
  } else if (errno != ENOENT) {
    throw_read_error(path, errno);
  }
  return file;
}

// Reads at most that many bytes; empty: there is no file.
std::string text_in(const std::string& path, std::size_t most) {
  const FileDescriptor file = open_for_reading(path);
  if (!file.is_open()) return "";
  std::string text(std::min(static_cast<std::size_t>(stat_of(file, path).st_size), most), '\0');
  read_all_at(file, 0, std::as_writable_bytes(std::span(text)), path);
  return text;
}

// In one sector for nine signers, which a power loss keeps whole.
void overwrite(const std::string& path, const std::string& text) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.is_open()) throw_write_error(path, errno);
  write_all(file, as_bytes(text), path);
  sync_file(file, path);
}

// What is damaged or not trusted is replaced by a save. Anything else, such as too many open files, stops it,
// because what cannot be read now would be forgotten.
template <typename Read>
void read_before_save(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data && error.kind() != ErrorKind::NotTrusted) throw;
  }
}

}  // namespace

SetCache::SetCache(std::string folder, std::string set_name, const PublicKeys& public_keys)
    : folder_(std::move(folder)),
      path_(folder_ + "/" + set_name),
      set_name_(std::move(set_name)),
      signers_(public_keys.empty() ? PublicKeys(1) : public_keys) {
  for (const PublicKey& key : signers_) has_seen({{}, key});
}

SetCache::State SetCache::read_state() const {
  check_private_folder(folder_);
  const std::string path = path_of(kState);
  const std::string text = text_in(path, kMaxStateBytes);
  State state;
  if (text.empty()) return state;
  const Bytes bytes = as_bytes(text);
  if (bytes.size() < kSeenAt || (bytes.size() - kSeenAt) % sizeof(NewestSeen) != 0 ||
      keysieve::load<std::uint64_t>(bytes.data()) != checksum(bytes.subspan(sizeof(std::uint64_t))))
    throw Error(ErrorKind::Data, path + ": is damaged");
  state.builds = keysieve::load<Builds>(bytes.data() + sizeof(std::uint64_t));
  for (std::size_t at = kSeenAt; at < bytes.size(); at += sizeof(NewestSeen))
    state.seen.push_back(keysieve::load<NewestSeen>(bytes.data() + at));
  return state;
}

// If there is no room, overwrites a text of the same length in place, which needs none.
void SetCache::write_state(const Builds& builds) const {
  std::string text(as_text(std::as_bytes(std::span(builds))));
  text += as_text(std::as_bytes(std::span(seen_)));
  const std::uint64_t sum = checksum(as_bytes(text));
  text.insert(0, as_text(std::as_bytes(std::span(&sum, 1))));
  const std::string path = path_of(kState);
  try {
    write_durable_file(path, as_bytes(text));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::CannotCreate || text_in(path, kMaxStateBytes).size() != text.size()) throw;
    overwrite(path, text);
  }
}

std::optional<CachedBuild> SetCache::find() const {
  const Builds builds = read_state().builds;
  const FileDescriptor file = open_for_reading(path_of());
  if (!file.is_open() && ::access(folder_.c_str(), F_OK) != 0) throw_read_error("cache " + folder_, errno);
  if (!file.is_open()) return std::nullopt;
  BuildId id{};
  read_all_at(file, offsetof(SnapshotHeader, build_id), std::as_writable_bytes(std::span(id)), path_of());
  const auto* const found = std::ranges::find(builds, id, &CachedBuild::build_id);
  return found == builds.end() ? std::nullopt : std::optional(*found);
}

std::optional<CachedSnapshot> SetCache::load() const {
  const std::optional<CachedBuild> cached = find();
  if (!cached) return std::nullopt;
  const std::string path = path_of();
  const FileDescriptor file = open_for_reading(path);
  const auto bytes = static_cast<std::uint64_t>(stat_of(file, path).st_size);
  check_memory_for(bytes, path + ": a copy of it");
  CachedSnapshot read{cached->generation, SnapshotBytes(bytes)};
  read_all_at(file, 0, read.bytes.get(), path);  // a mapping of a bad disk would be SIGBUS
  const SnapshotView view = SnapshotView::decode(read.bytes.get(), path, Check::Everything);
  view.check_set_name(set_name_, path);
  return view.header().build_id == cached->build_id ? std::optional(std::move(read)) : std::nullopt;
}

// First writes the state, with the new build and the old one, then the snapshot. So after a power loss, or
// when there is no room for the snapshot, the state has the generation of the one that is there. Example: "8
// of B, 7 of A" is on disk before B takes the place of A. Generations may fall: a store that lost its records
// counts from 1 again.
void SetCache::save(std::uint64_t generation, Bytes snapshot) {
  check_private_folder(folder_);  // before anything is there that could not be removed either
  const FileDescriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open() && is_in_memory(folder, folder_))
    check_memory_for(snapshot.size(), folder_ + ": a copy of the snapshot");
  const CachedBuild fresh{generation,
                          SnapshotView::decode(snapshot, set_name_, Check::Tables).header().build_id};
  Builds builds{fresh, {}};
  read_before_save([&] {
    read_seen();
    if (const auto old = find(); old && old->build_id != fresh.build_id) builds[1] = *old;
  });
  write_state(builds);
  write_durable_file(path_of(), snapshot);
}

SnapshotMoment SetCache::newest() const {
  SnapshotMoment newest;
  for (const NewestSeen& one : seen_) {
    if (contains(signers_, one.public_key)) newest = std::max(newest, one.moment);
  }
  return newest;
}

bool SetCache::has_seen(const NewestSeen& seen) {
  const auto known = std::ranges::find(seen_, seen.public_key, &NewestSeen::public_key);
  if (known == seen_.end()) {
    seen_.push_back(seen);
    return true;
  }
  return std::exchange(known->moment, std::max(known->moment, seen.moment)) < seen.moment;
}

void SetCache::read_seen() {
  for (const NewestSeen& one : read_state().seen) has_seen(one);
}

void SetCache::save_seen() {
  check_private_folder(folder_);
  State state;
  read_before_save([&] {
    read_seen();
    state = read_state();
  });
  if (state.seen != seen_) write_state(state.builds);
}

}  // namespace keysieve
