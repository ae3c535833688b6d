#include "tools/stores/log_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <utility>

#include "core/builder/base/file_io.hpp"
#include "core/worker/base/error.hpp"
#include "tools/program/durable_file.hpp"
#include "tools/stores/log_frame.hpp"
#include "tools/stores/store_error.hpp"
#include "tools/stores/store_file.hpp"

namespace keysieve {
namespace {

constexpr LogPosition kBeforeAll{};

std::uint64_t size_of(const FileDescriptor& file, const std::string& path) {
  return static_cast<std::uint64_t>(stat_of(file, path).st_size);
}

bool are_one_file(const FileDescriptor& one, const FileDescriptor& other) {
  struct stat of_one {};
  struct stat of_other {};
  return ::fstat(one.get(), &of_one) == 0 && ::fstat(other.get(), &of_other) == 0 &&
         identity_of(of_one) == identity_of(of_other);
}

void check_entries(const std::string& path, LogPosition last, std::span<const LogEntry> entries) {
  for (const LogEntry& entry : entries) {
    if (entry.position <= last) {
      throw Error(ErrorKind::Usage,
                  path + ": position " + to_text(entry.position) + " does not come after " + to_text(last));
    }
    if (entry.key && entry.key->size() > std::numeric_limits<std::int32_t>::max()) {
      throw Error(ErrorKind::Usage,
                  path + ": a key of " + std::to_string(entry.key->size()) + " bytes is too long");
    }
    last = entry.position;
  }
}

LogEntry copy_of(const LogEntryView& entry) {
  return {entry.position, std::string(*entry.key)};
}

// Adds the entries above `after`, at most `max_entries` in all; false when there was no room for all of
// them.
bool take_entries(std::span<const LogEntryView> from, const LogPosition& after, std::size_t max_entries,
                  std::vector<LogEntry>& entries) {
  for (const LogEntryView& entry : from) {
    if (entry.position <= after || !entry.key) continue;
    if (entries.size() == max_entries) return false;
    entries.push_back(copy_of(entry));
  }
  return true;
}

}  // namespace

// A writer whose disk failed may have taken back and replaced bytes before a remembered offset. So it is
// damage only if a read from the beginning finds it too.
template <typename Read>
auto LogFile::reading(Read read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data) throw;
    forget();
    return read();
  }
}

void LogFile::append(std::span<const LogEntry> entries, const std::optional<LogMark>& mark) {
  if (entries.empty()) return;
  open_to_append();
  check_entries(path_, end_.position, entries);
  while (!entries.empty()) {
    const auto of_frame = entries.first(entries_of_one_frame(entries));
    entries = entries.subspan(of_frame.size());
    const bool is_marked = mark && entries.empty();
    append_bytes(encode_log_frame(of_frame) + (is_marked ? encode_log_mark({}, *mark) : ""));
    end_.position = of_frame.back().position;
    end_.keys_since += of_frame.size();
    if (is_marked) set_mark(*mark);
  }
}

void LogFile::append_mark(const LogPosition& position, const LogMark& mark) {
  open_to_append();
  append_bytes(encode_log_mark(position, mark));
  end_.position = std::max(end_.position, position);
  set_mark(mark);
}

void LogFile::set_mark(const LogMark& mark) {
  end_.mark = mark;
  end_.keys_since = 0;
}

void LogFile::move_end(const LogPosition& to) {
  append_mark(to, {.begun = mark().begun, .count = end_.mark.count + end_.keys_since});
}

LogMark LogFile::mark() {
  if (!open(O_RDONLY)) return {};
  find_end();
  return end_.mark;
}

void LogFile::open_to_append() {
  open(O_RDWR | O_CREAT);
  find_end();
  remove_torn_frame();
  keep();
}

void LogFile::sync() {
  if (!open(O_RDONLY)) return;
  sync_file(file_, path_);
  sync_folder(folder_of(path_));
}

std::vector<LogEntry> LogFile::read_after(const LogPosition& after, std::size_t max_entries) {
  if (!open(O_RDONLY)) return {};
  return reading([&] {
    if (after < read_.position) read_ = {};
    std::vector<LogEntry> entries;
    LogFrameReader frames(file_, path_, read_.offset);
    while (entries.size() < max_entries && frames.next()) {
      if (!take_entries(frames.entries(), after, max_entries, entries)) break;
      pass(read_, frames);
    }
    return entries;
  });
}

std::vector<LogEntry> LogFile::read_up_to(const LogPosition& end, const LogPosition& after,
                                          std::size_t max_entries) {
  std::vector<LogEntry> entries = read_after(after, max_entries);
  std::erase_if(entries, [&](const LogEntry& entry) { return entry.position > end; });
  return entries;
}

LogFacts LogFile::facts() {
  const LogMark said = mark();
  if (!file_.is_open()) return {};
  return {.begun = said.begun,
          .end = end_.position,
          .count = said.count + end_.keys_since,
          .trimmed_to = find_trimmed_to(),
          .is_cut = end_.offset != size_of(file_, path_)};
}

LogPosition LogFile::end() {
  if (!open(O_RDONLY)) return {};
  find_end();
  return end_.position;
}

LogPosition LogFile::trimmed_to() {
  if (!file_.is_open() && !open(O_RDONLY)) return {};
  return find_trimmed_to();
}

bool LogFile::is_whole() {
  if (!open(O_RDONLY)) return true;
  find_end();
  return end_.offset == size_of(file_, path_);
}

void LogFile::trim(const LogPosition& up_to) {
  const auto first = read_after(kBeforeAll, 1);
  if (!file_.is_open()) return;
  find_end();
  if (!first.empty() && first.front().position <= up_to) {
    rewrite_above(std::min(up_to, end_.position));
  } else {
    remove_torn_frame();
  }
}

// Forgets everything and returns false when there is no file.
bool LogFile::open(int flags) {
  if (is_copy_) return true;
  FileDescriptor opened = open_store_file(path_, flags, new_file_mode());
  const bool may_be_missing = (flags & O_CREAT) == 0;
  if (!opened.is_open() && !(errno == ENOENT && may_be_missing)) {
    throw_store_error(path_ + ": cannot open", errno);
  }
  if ((flags & O_CREAT) != 0) share(opened);
  if (!opened.is_open() || !is_known_in(opened)) forget();
  file_ = std::move(opened);
  return file_.is_open();
}

mode_t LogFile::new_file_mode() const noexcept {
  return access_ == Access::OfFolder ? kNewFileMode : S_IRUSR | S_IWUSR;
}

void LogFile::share(const FileDescriptor& file) const {
  if (access_ == Access::OfFolder) share_as_folder(file, folder_of(path_));
}

// Whether it is the same file, and what was read of it is still there.
bool LogFile::is_known_in(const FileDescriptor& opened) const {
  if (!are_one_file(opened, file_)) return false;
  if (size_of(opened, path_) < std::max(read_.offset, end_.offset)) return false;
  return (!read_.last || is_there(*read_.last, opened)) && (!end_.last || is_there(*end_.last, opened));
}

void LogFile::forget() noexcept {
  read_ = {};
  end_ = {};
  trimmed_to_.reset();
  kept_to_.reset();
}

// Makes durable what others have written before the next frame, and the name: they may have been killed
// before they had. Otherwise a power loss could keep that frame and lose one before it, which is damage.
void LogFile::keep() {
  if (kept_to_ == end_.offset) return;
  if (end_.offset != 0) sync_file(file_, path_);
  sync_folder(folder_of(path_));
  kept_to_ = end_.offset;
}

void LogFile::find_end() {
  reading([this] {
    LogFrameReader frames(file_, path_, end_.offset);
    while (frames.next()) pass(end_, frames);
  });
}

void LogFile::pass(Known& known, const LogFrameReader& frames) {
  known.offset = frames.end_offset();
  known.last = frames.mark();
  for (const LogEntryView& entry : frames.entries()) {
    known.position = std::max(known.position, entry.position);
    if (entry.key) {
      ++known.keys_since;
    } else {
      known.mark = entry.mark;
      known.keys_since = 0;
    }
  }
}

void LogFile::remove_torn_frame() {
  if (end_.offset < size_of(file_, path_)) rewrite_above(find_trimmed_to());
}

LogPosition LogFile::find_trimmed_to() {
  if (trimmed_to_) return *trimmed_to_;
  LogFrameReader frames(file_, path_, 0);
  if (!frames.next()) return kBeforeAll;
  const LogEntryView& first = frames.entries().front();
  trimmed_to_ = first.key ? kBeforeAll : first.position;
  return *trimmed_to_;
}

void LogFile::append_bytes(const std::string& frame) {
  try {
    if (::lseek(file_.get(), static_cast<off_t>(end_.offset), SEEK_SET) < 0) throw_write_error(path_, errno);
    write_all(file_, as_bytes(frame), path_);
    sync_file(file_, path_);
  } catch (...) {
    // The next append would find the frame torn and rewrite the whole file, on a disk that may be full.
    [[maybe_unused]] const int ignored = ::ftruncate(file_.get(), static_cast<off_t>(end_.offset));
    throw;
  }
  end_.offset += frame.size();
  end_.last.reset();
  kept_to_ = end_.offset;
}

void LogFile::rewrite_above(const LogPosition& up_to) {
  const std::string fresh = path_ + "~";
  FileDescriptor file(
      ::open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, new_file_mode()));
  if (!file.is_open()) throw_store_error(fresh + ": cannot create", errno);
  try {
    share(file);
    write_above(up_to, file, fresh);
    sync_file(file, fresh);
    if (::rename(fresh.c_str(), path_.c_str()) != 0) throw_store_error(fresh + ": cannot rename", errno);
  } catch (...) {  // also where memory runs out
    ::unlink(fresh.c_str());
    throw;
  }
  sync_folder(folder_of(path_));
  read_ = {};
  end_.offset = size_of(file, path_);
  end_.last.reset();
  end_.mark.count += std::exchange(end_.keys_since, 0);
  kept_to_ = end_.offset;
  trimmed_to_ = up_to;
  file_ = std::move(file);
}

void LogFile::write_above(const LogPosition& up_to, const FileDescriptor& to,
                          const std::string& to_path) const {
  LogMark mark{.begun = end_.mark.begun, .count = end_.mark.count + end_.keys_since - count_above(up_to)};
  if (mark.begun != kBeforeAll || up_to != kBeforeAll)
    write_all(to, as_bytes(encode_log_mark(up_to, mark)), to_path);
  LogPosition last = up_to;
  LogFrameReader frames(file_, path_, 0);
  while (frames.next()) {
    std::vector<LogEntry> kept;
    for (const LogEntryView& entry : frames.entries()) {
      if (entry.key && entry.position > up_to) kept.push_back(copy_of(entry));
    }
    if (kept.empty()) continue;
    write_all(to, as_bytes(encode_log_frame(kept)), to_path);
    last = kept.back().position;
  }
  if (end_.position <= last) return;
  mark.count = end_.mark.count + end_.keys_since;
  write_all(to, as_bytes(encode_log_mark(end_.position, mark)), to_path);
}

std::uint64_t LogFile::count_above(const LogPosition& position) const {
  std::uint64_t count = 0;
  LogFrameReader frames(file_, path_, 0);
  while (frames.next()) {
    for (const LogEntryView& entry : frames.entries()) {
      if (entry.key && entry.position > position) ++count;
    }
  }
  return count;
}

}  // namespace keysieve
