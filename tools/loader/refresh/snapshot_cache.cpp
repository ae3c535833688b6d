#include "tools/loader/refresh/snapshot_cache.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <map>
#include <span>
#include <sstream>
#include <vector>

#include "core/builder/base/file_io.hpp"
#include "core/builder/base/folder_names.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "tools/loader/config/private_cache.hpp"
#include "tools/program/durable_file.hpp"
#include "tools/signatures/public_keys.hpp"

namespace keysieve {
namespace {

constexpr std::string_view kEnding = ".ks";
constexpr std::string_view kUnfinished = ".tmp.";
constexpr std::size_t kMaxMomentText = 128;
constexpr std::size_t kMaxListText = std::size_t{64}
                                     << 20;  // ten patterns with as many sets as they may have

// The generation in "<set>.<generation>.ks"; nothing for other names. A set's name holds no dot.
std::optional<std::uint64_t> generation_of(std::string_view file_name, std::string_view set_name) {
  if (!file_name.starts_with(set_name) || !file_name.ends_with(kEnding)) return std::nullopt;
  file_name.remove_prefix(set_name.size());
  if (file_name.size() < 1 + kEnding.size() || file_name.front() != '.') return std::nullopt;
  const std::string_view digits = file_name.substr(1, file_name.size() - 1 - kEnding.size());
  std::uint64_t generation = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), generation);
  if (parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size()) return std::nullopt;
  return generation;
}

// Left by a crash in the middle of a save, of a snapshot or of the adds next to it.
bool is_unfinished(std::string_view file_name, std::string_view set_name) {
  const bool is_of_set =
      file_name.starts_with(set_name) && file_name.substr(set_name.size()).starts_with('.');
  return is_of_set && file_name.find(kUnfinished) != std::string_view::npos;
}

std::vector<std::string> file_names(const std::string& folder) {
  check_private_folder(folder);
  std::error_code error;
  std::vector<std::string> names = names_in(folder, error);
  if (error) throw_read_error("cache " + folder, error.value());
  return names;
}

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

// Two moments and a key.
NewestSigned newest_signed_in(std::string_view text, const std::string& path) {
  NewestSigned newest;
  newest.moment.as_of = take_moment(text, ' ', path);
  newest.moment.built_at = take_moment(text, ' ', path);
  if (text.ends_with('\n')) text.remove_suffix(1);
  try {
    newest.public_key = parse_public_key(text);
  } catch (const Error& error) {
    throw Error(ErrorKind::Data, path + ": " + error.what());
  }
  return newest;
}

// Nothing if there is none.
std::optional<std::string> text_in(const std::string& path, std::size_t most = kMaxMomentText) {
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

std::optional<std::uint64_t> SnapshotCache::newest_generation(const std::string& set_name) const {
  std::optional<std::uint64_t> newest;
  for (const std::string& name : file_names(folder_)) {
    newest = std::max(newest, generation_of(name, set_name));
  }
  return newest;
}

BuildId SnapshotCache::build_id_of(const std::string& set_name, std::uint64_t generation) const {
  const std::string path = path_of(set_name, generation);
  BuildId id{};
  read_all_at(open_for_reading(path), offsetof(SnapshotHeader, build_id),
              std::as_writable_bytes(std::span(id)), path);
  return id;
}

SnapshotBytes SnapshotCache::load(const std::string& set_name, std::uint64_t generation) const {
  const std::string path = path_of(set_name, generation);
  const FileDescriptor file = open_for_reading(path);
  const auto status = stat_of(file, path);
  if (!S_ISREG(status.st_mode) || status.st_size == 0)
    throw Error(ErrorKind::Data, path + ": is not a snapshot");
  SnapshotBytes bytes(static_cast<std::size_t>(status.st_size));
  read_all_at(file, 0, bytes.get(), path);  // a mapping of a bad disk would be SIGBUS
  SnapshotView::decode(bytes.get(), path, Check::Everything).check_set_name(set_name, path);
  return bytes;
}

void SnapshotCache::save(const std::string& set_name, std::uint64_t generation, Bytes snapshot) const {
  check_private_folder(folder_);  // before anything is there that could not be removed either
  write_durable_file(path_of(set_name, generation), snapshot);
  remove_others(set_name, generation);
}

UnixSeconds SnapshotCache::newest_as_of(const std::string& set_name) const {
  const std::string path = newest_path_of(set_name);
  const std::optional<std::string> text = text_in(path);
  return text ? moment_in(*text, path) : 0;
}

void SnapshotCache::save_newest_as_of(const std::string& set_name, UnixSeconds as_of) const {
  check_private_folder(folder_);
  write_durable_file(newest_path_of(set_name), as_bytes(std::to_string(as_of) + "\n"));
}

NewestSigned SnapshotCache::newest_signed(const std::string& set_name) const {
  const std::string path = signed_path_of(set_name);
  const std::optional<std::string> text = text_in(path);
  return text ? newest_signed_in(*text, path) : NewestSigned{};
}

void SnapshotCache::save_newest_signed(const std::string& set_name, const NewestSigned& newest) const {
  check_private_folder(folder_);
  const std::string text = std::to_string(newest.moment.as_of) + " " +
                           std::to_string(newest.moment.built_at) + " " + to_hex(newest.public_key) + "\n";
  write_durable_file(signed_path_of(set_name), as_bytes(text));
}

std::vector<std::string> SnapshotCache::found_sets() const {
  std::istringstream lines(text_in(found_path(), kMaxListText).value_or(""));
  std::vector<std::string> names;
  for (std::string name; std::getline(lines, name);) names.push_back(name);
  return names;
}

void SnapshotCache::save_found_sets(const std::set<std::string>& names) const {
  check_private_folder(folder_);
  std::string text;
  for (const std::string& name : names) (text += name) += '\n';
  write_durable_file(found_path(), as_bytes(text));
}

std::string SnapshotCache::path_of(const std::string& set_name, std::uint64_t generation) const {
  return folder_ + "/" + set_name + "." + std::to_string(generation) + std::string(kEnding);
}

// A store that lost its records counts from 1 again, so those that are removed may have higher numbers. One
// that was left, or that came back after a power loss, would be taken for the newest. So the oldest goes
// first, and its removal is synced before one with a higher number than the saved one goes.
void SnapshotCache::remove_others(const std::string& set_name, std::uint64_t generation) const {
  std::map<std::uint64_t, std::string> others;
  for (const std::string& name : file_names(folder_)) {
    const auto other = generation_of(name, set_name);
    if (other && *other != generation) others.emplace(*other, folder_ + "/" + name);
    if (is_unfinished(name, set_name)) ::unlink((folder_ + "/" + name).c_str());
  }
  bool is_durable = true;  // what was saved
  for (const auto& [other, path] : others) {
    if (other > generation && !is_durable) sync_folder(folder_);
    ::unlink(path.c_str());
    is_durable = false;
  }
  if (!others.empty() && others.rbegin()->first > generation) sync_folder(folder_);
}

}  // namespace keysieve
