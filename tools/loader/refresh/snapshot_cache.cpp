#include "tools/loader/refresh/snapshot_cache.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <exception>
#include <span>

#include "core/builder/base/file_io.hpp"
#include "core/builder/base/folder_names.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "core/worker/base/set_name.hpp"
#include "tools/loader/config/private_cache.hpp"
#include "tools/program/durable_file.hpp"
#include "tools/program/memory_left.hpp"
#include "tools/records/chunk.hpp"
#include "tools/signatures/public_keys.hpp"

namespace keysieve {
namespace {

constexpr std::string_view kUnfinished = ".tmp.";  // then a process id: tools/program/durable_file.cpp
constexpr const char* kGeneration = ".generation";
constexpr const char* kNewest = ".newest";
constexpr const char* kSigned = ".signed";
constexpr std::size_t kMaxShortText = 256;
constexpr std::size_t kMaxSignedText = std::size_t{1} << 20;  // lines of 87 bytes, one for each public key

FileDescriptor open_for_reading(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) throw_read_error(path, errno);
  check_private(file, path);
  return file;
}

// Takes the digits and what ends them off the text.
UnixSeconds take_moment(std::string_view& text, char end, const std::string& path) {
  UnixSeconds moment = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), moment);
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
  if (parsed.ec != std::errc{} || !text.starts_with(end) || !is_moment(moment))
    throw Error(ErrorKind::Data, path + ": is not a moment");
  text.remove_prefix(1);
  return moment;
}

UnixSeconds moment_in(std::string_view text, const std::string& path) {
  const UnixSeconds moment = take_moment(text, '\n', path);
  if (!text.empty()) throw Error(ErrorKind::Data, path + ": is not a moment");
  return moment;
}

// "<generation> <build id>\n"
CachedBuild take_build(std::string_view& text, const std::string& path) {
  CachedBuild build{};
  const std::string_view line = text.substr(0, text.find('\n'));
  const auto parsed = std::from_chars(line.data(), line.data() + line.size(), build.generation);
  const std::string_view rest = line.substr(static_cast<std::size_t>(parsed.ptr - line.data()));
  const auto id = rest.starts_with(' ') ? parse_id(rest.substr(1)) : std::nullopt;
  if (parsed.ec != std::errc{} || !id || line.size() == text.size())
    throw Error(ErrorKind::Data, path + ": is not a list of generations");
  build.build_id = *id;
  text.remove_prefix(line.size() + 1);
  return build;
}

std::string line_of(const CachedBuild& build) {
  return std::to_string(build.generation) + " " + to_hex(build.build_id) + "\n";
}

// "<set>.<file>.tmp.<process id>". The folder may have files of others.
bool is_unfinished(std::string_view name) {
  const std::size_t end = name.find(kUnfinished);
  if (end == std::string_view::npos) return false;
  const std::string_view process = name.substr(end + kUnfinished.size());
  if (process.empty() || process.find_first_not_of("0123456789") != std::string_view::npos) return false;
  name = name.substr(0, end);
  const std::size_t dot = std::min(name.find('.'), name.size());
  constexpr std::array<std::string_view, 5> kFiles{".ks", kGeneration, kNewest, kSigned, ".adds"};
  return is_set_name(name.substr(0, dot)) && std::ranges::find(kFiles, name.substr(dot)) != kFiles.end();
}

// Two moments and a key.
NewestSigned take_newest_signed(std::string_view& text, const std::string& path) {
  NewestSigned newest;
  newest.moment.as_of = take_moment(text, ' ', path);
  newest.moment.built_at = take_moment(text, ' ', path);
  const std::string_view key = text.substr(0, text.find('\n'));
  try {
    newest.public_key = parse_public_key(key);
  } catch (const Error& error) {
    throw Error(ErrorKind::Data, path + ": " + error.what());
  }
  text.remove_prefix(std::min(key.size() + 1, text.size()));
  return newest;
}

// In one sector for five keys, which a power loss keeps whole.
void overwrite(const std::string& path, const std::string& text) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.is_open()) throw_write_error(path, errno);
  write_all(file, as_bytes(text), path);
  sync_file(file, path);
}

// Nothing if there is none.
std::optional<std::string> text_in(const std::string& path, std::size_t most = kMaxShortText) {
  try {
    const FileDescriptor file = open_for_reading(path);
    std::string text(std::min(static_cast<std::size_t>(stat_of(file, path).st_size), most), '\0');
    read_all_at(file, 0, std::as_writable_bytes(std::span(text)), path);
    return text;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::MissingInput) throw;
    return std::nullopt;
  }
}

}  // namespace

// A build is one of the lines in <set>.generation; the one whose id is in the snapshot's header counts.
std::optional<CachedBuild> SnapshotCache::find(const std::string& set_name) const {
  check_private_folder(folder_);
  const std::vector<CachedBuild> builds = builds_of(set_name);
  if (builds.empty()) {
    if (::access(folder_.c_str(), F_OK) != 0) throw_read_error("cache " + folder_, errno);
    return std::nullopt;
  }
  const std::string path = path_of(set_name);
  BuildId id{};
  try {
    read_all_at(open_for_reading(path), offsetof(SnapshotHeader, build_id),
                std::as_writable_bytes(std::span(id)), path);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::MissingInput) throw;
    return std::nullopt;
  }
  const auto found = std::ranges::find(builds, id, &CachedBuild::build_id);
  return found == builds.end() ? std::nullopt : std::optional(*found);
}

std::vector<CachedBuild> SnapshotCache::builds_of(const std::string& set_name) const {
  const std::string path = path_of(set_name, kGeneration);
  const std::string read = text_in(path).value_or("");
  std::vector<CachedBuild> builds;
  for (std::string_view text = read; !text.empty();) builds.push_back(take_build(text, path));
  return builds;
}

SnapshotBytes SnapshotCache::load(const std::string& set_name) const {
  const std::string path = path_of(set_name);
  const FileDescriptor file = open_for_reading(path);
  const auto status = stat_of(file, path);
  if (!S_ISREG(status.st_mode) || status.st_size == 0)
    throw Error(ErrorKind::Data, path + ": is not a snapshot");
  check_memory_for(static_cast<std::uint64_t>(status.st_size), path + ": a copy of it");
  SnapshotBytes bytes(static_cast<std::size_t>(status.st_size));
  read_all_at(file, 0, bytes.get(), path);  // a mapping of a bad disk would be SIGBUS
  SnapshotView::decode(bytes.get(), path, Check::Everything).check_set_name(set_name, path);
  return bytes;
}

// First <set>.generation, with a line for the new snapshot and one for the old, then <set>.ks. So after a
// power loss, or when there is no room for the snapshot, whichever of the two is there has its generation:
// "8 <id of B>, 7 <id of A>" is on disk before B takes the place of A. Generations may fall: a store that
// lost its records counts from 1 again.
void SnapshotCache::save(const std::string& set_name, std::uint64_t generation, Bytes snapshot) const {
  check_private_folder(folder_);  // before anything is there that could not be removed either
  const FileDescriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open() && is_in_memory(folder, folder_))
    check_memory_for(snapshot.size(), folder_ + ": a copy of the snapshot");
  const CachedBuild fresh{generation,
                          SnapshotView::decode(snapshot, set_name, Check::Tables).header().build_id};
  std::string text = line_of(fresh);
  try {
    if (const auto old = find(set_name); old && old->build_id != fresh.build_id) text += line_of(*old);
  } catch (const Error&) {  // cannot be used anyway
  }
  write_durable_file(path_of(set_name, kGeneration), as_bytes(text));
  write_durable_file(path_of(set_name), snapshot);
}

void SnapshotCache::remove_unfinished() const noexcept try {
  check_private_folder(folder_);
  std::error_code ignored;
  for (const std::string& name : names_in(folder_, ignored)) {
    if (is_unfinished(name)) ::unlink((folder_ + "/").append(name).c_str());
  }
} catch (const std::exception&) {  // not trusted, or no memory
}

UnixSeconds SnapshotCache::newest_as_of(const std::string& set_name) const {
  const std::string path = path_of(set_name, kNewest);
  const std::optional<std::string> text = text_in(path);
  return text ? moment_in(*text, path) : 0;
}

void SnapshotCache::save_newest_as_of(const std::string& set_name, UnixSeconds as_of) const {
  check_private_folder(folder_);
  write_durable_file(path_of(set_name, kNewest), as_bytes(std::to_string(as_of) + "\n"));
}

std::vector<NewestSigned> SnapshotCache::newest_signed(const std::string& set_name) const {
  const std::string path = path_of(set_name, kSigned);
  const std::optional<std::string> read = text_in(path, kMaxSignedText);
  std::vector<NewestSigned> newest;
  if (!read) return newest;
  std::string_view text = *read;
  do newest.push_back(take_newest_signed(text, path));
  while (!text.empty());
  return newest;
}

void SnapshotCache::save_newest_signed(const std::string& set_name,
                                       const std::vector<NewestSigned>& newest) const {
  check_private_folder(folder_);
  std::string text;
  for (const NewestSigned& one : newest) {
    text += fmt::format("{:010} {:010} {}\n", one.moment.as_of, one.moment.built_at, to_hex(one.public_key));
  }
  const std::string path = path_of(set_name, kSigned);
  try {
    write_durable_file(path, as_bytes(text));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::CannotCreate) throw;
    const auto before = text_in(path, kMaxSignedText);
    if (!before || before->size() != text.size()) throw;
    overwrite(path, text);
  }
}

}  // namespace keysieve
