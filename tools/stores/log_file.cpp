#include "tools/stores/log_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/builder/base/file_io.hpp"
#include "core/worker/base/error.hpp"
#include "tools/program/durable_file.hpp"

namespace keysieve {
namespace {

constexpr LogPosition kBeforeAll{};

std::uint64_t size_of(const FileDescriptor& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_store_error(path, errno);
  return static_cast<std::uint64_t>(status.st_size);
}

bool are_one_file(const FileDescriptor& one, const FileDescriptor& other) {
  struct stat of_one {};
  struct stat of_other {};
  return ::fstat(one.get(), &of_one) == 0 && ::fstat(other.get(), &of_other) == 0 &&
         identity_of(of_one) == identity_of(of_other);
}

void check_entries(const std::string& path, LogPosition last, std::span<const LogEntry> entries) {
  for (const LogEntry& entry : entries) {
    if (entry.position == kBeforeAll) continue;  // a note
    if (entry.position <= last) {
      throw Error(ErrorKind::Usage,
                  path + ": position " + to_text(entry.position) + " does not come after " + to_text(last));
    }
    last = entry.position;
  }
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

void LogFile::append(std::span<const LogEntry> entries) {
  if (entries.empty()) return;
  open_to_append();
  check_entries(path_, end_.position, entries);
  while (!entries.empty()) {
    const auto of_frame = entries.first(entries_of_one_frame(entries));
    append_frame(encode_log_frame(of_frame));
    for (const LogEntry& entry : of_frame) pass(end_, {entry.position, entry.key, {}});
    entries = entries.subspan(of_frame.size());
  }
}

void LogFile::begin(std::uint64_t now_milliseconds) {
  open_to_append();
  if (end_.mark.begun != kBeforeAll) return;
  append_mark({}, {next_log_position(end_.position, now_milliseconds), end_.mark.count});
}

void LogFile::move_end(std::uint64_t now_milliseconds) {
  open_to_append();
  append_mark(next_log_position(end_.position, now_milliseconds), end_.mark);
}

void LogFile::append_mark(const LogPosition& position, const LogMark& mark) {
  append_frame(encode_log_mark(position, mark));
  pass(end_, {position, std::nullopt, mark});
}

std::string LogFile::note() {
  if (!open(O_RDONLY)) return {};
  find_end();
  return end_.note;
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
    if (after < read_.position) read_ = after < before_last_.position ? Known{} : before_last_;
    std::vector<LogEntry> entries;
    LogFrameReader frames(file_, path_, read_.offset);
    while (entries.size() < max_entries && frames.next()) {
      Known here = read_;
      for (const LogEntryView& entry : frames.entries()) {
        if (entry.key && entry.position > after && entries.size() == max_entries) return entries;
        pass(here, entry);
        if (!entry.key || entry.position <= after) continue;
        entries.push_back(
            {.position = entry.position, .key = std::string(*entry.key), .ordinal = here.mark.count});
      }
      if (frames.entries().front().key) before_last_ = read_;
      pass(read_, frames);
    }
    return entries;
  });
}

LogFacts LogFile::facts() {
  if (!open(O_RDONLY)) return {};
  find_end();
  return {.begun = end_.mark.begun,
          .end = end_.position,
          .count = end_.mark.count,
          .trimmed_to = end_.trimmed_to,
          .is_cut = end_.offset != size_of(file_, path_)};
}

LogPosition LogFile::end() {
  if (!open(O_RDONLY)) return {};
  find_end();
  return end_.position;
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
  if ((flags & O_CREAT) != 0 && access_ == Access::OfFolder) share_as_folder(opened, folder_of(path_));
  if (!opened.is_open() || !is_known_in(opened)) forget();
  file_ = std::move(opened);
  return file_.is_open();
}

// Whether it is the same file, and what was read of it is still there.
bool LogFile::is_known_in(const FileDescriptor& opened) const {
  if (!are_one_file(opened, file_)) return false;
  if (size_of(opened, path_) < std::max(read_.offset, end_.offset)) return false;
  return (!read_.last || is_there(*read_.last, opened)) && (!end_.last || is_there(*end_.last, opened));
}

void LogFile::forget() noexcept {
  read_ = {};
  before_last_ = {};
  end_ = {};
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
  const LogEntryView& first = frames.entries().front();
  if (known.offset == 0 && !first.key) known.trimmed_to = first.position;
  known.offset = frames.end_offset();
  known.last = frames.mark();
  for (const LogEntryView& entry : frames.entries()) pass(known, entry);
}

void LogFile::pass(Known& known, const LogEntryView& entry) {
  known.position = std::max(known.position, entry.position);
  if (!entry.key) {
    known.mark = entry.mark;
  } else if (entry.position == kBeforeAll) {
    known.note = *entry.key;
  } else {
    ++known.mark.count;
  }
}

void LogFile::remove_torn_frame() {
  if (end_.offset < size_of(file_, path_)) rewrite_above(end_.trimmed_to);
}

void LogFile::append_frame(const std::string& frame) {
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

void LogFile::rewrite_above(LogPosition up_to) {
  const std::vector<LogEntry> kept = read_after(up_to, 1);
  find_end();
  const LogMark first{end_.mark.begun, kept.empty() ? end_.mark.count : kept.front().ordinal - 1};
  const auto made = access_ == Access::OfFolder ? share_as_folder : nullptr;
  DurableFile fresh(path_, {new_file_mode(), made, throw_store_error, Replaces::Anything});
  write_above(up_to, first, fresh);
  fresh.commit();
  file_ = fresh.take();
  read_ = {};
  before_last_ = {};
  end_.offset = size_of(file_, path_);
  end_.last.reset();
  kept_to_ = end_.offset;
  end_.trimmed_to = up_to;
}

void LogFile::write_above(const LogPosition& up_to, const LogMark& first, DurableFile& to) const {
  const auto write = [&](const std::string& frame) { to.append(as_bytes(frame)); };
  if (first.begun != kBeforeAll || up_to != kBeforeAll) write(encode_log_mark(up_to, first));
  LogPosition last = up_to;
  LogFrameReader frames(file_, path_, 0);
  while (frames.next()) {
    std::vector<LogEntry> kept;
    for (const LogEntryView& entry : frames.entries()) {
      if (entry.key && entry.position > up_to) kept.push_back({entry.position, std::string(*entry.key)});
    }
    if (kept.empty()) continue;
    write(encode_log_frame(kept));
    last = kept.back().position;
  }
  if (end_.position > last) write(encode_log_mark(end_.position, end_.mark));
  const LogEntry note{{}, end_.note};
  if (!end_.note.empty()) write(encode_log_frame(std::span(&note, 1)));
}

}  // namespace keysieve
