// The frames of a log file: their bytes, and reading one after the other. log_file.hpp has the format.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/worker/base/bytes.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

// How many of the first entries go into one frame: at least one.
std::size_t entries_of_one_frame(std::span<const LogEntry> entries);
std::string encode_log_frame(std::span<const LogEntry> entries);

// What such a file says of its log.
struct LogMark {
  LogPosition begun{};
  std::uint64_t count = 0;  // of keys ever appended before this mark
};
// A frame with nothing else.
std::string encode_log_mark(const LogPosition& position, const LogMark& mark);

// An entry in the reader's buffer.
struct LogEntryView {
  LogPosition position{};
  std::optional<std::string_view> key;  // nothing: a mark
  LogMark mark{};
};

// Tells a frame from another one that a writer has put into its place.
struct LogFrameMark {
  std::uint64_t offset = 0;
  std::uint64_t header_checksum = 0;
};
bool is_there(const LogFrameMark& frame, const FileDescriptor& file);

class LogFrameReader {
 public:
  // Reads from `offset`, where a frame begins. Keeps references to the file and the path.
  LogFrameReader(const FileDescriptor& file, const std::string& path, std::uint64_t offset)
      : file_(file), path_(path), end_(offset) {}

  // Moves to the next whole frame; false when there is none, though a torn one may follow. Throws Data for
  // damage.
  bool next();
  [[nodiscard]] std::uint64_t end_offset() const noexcept { return end_; }
  [[nodiscard]] const LogFrameMark& mark() const noexcept { return mark_; }
  // Valid until next(); never empty.
  [[nodiscard]] std::span<const LogEntryView> entries() const noexcept { return entries_; }

 private:
  Bytes at(std::uint64_t offset, std::size_t bytes);
  [[nodiscard]] bool is_followed(std::uint64_t offset);
  void decode(Bytes payload, std::uint32_t entry_count);
  [[noreturn]] void refuse() const;

  const FileDescriptor& file_;
  const std::string& path_;
  std::uint64_t offset_ = 0;
  std::uint64_t end_;
  LogFrameMark mark_;
  std::vector<LogEntryView> entries_;
  std::vector<std::byte> buffer_;
  std::uint64_t buffer_offset_ = 0;
};

}  // namespace keysieve
