// A log in one file: an adds log of a dir: store, and the loader's mirror of what it has read from one.
//
// The file is a sequence of frames. Each is appended and synced as a whole and never changed:
//
//   offset  bytes
//        0      8  magic "KEYSLOG1"
//        8      4  number of entries, from 1
//       12      4  bytes of the payload, a multiple of 32
//       16      8  XXH3-64 of the payload
//       24      8  XXH3-64 of the 24 bytes before
//       32         payload: the entries, then 0xff up to a multiple of 32
//
//   entry: position (16 bytes), length of the key (4 bytes), key
//   mark:  position (16 bytes), 0xffffffff, when the log was begun (16 bytes), how many keys were ever
//          appended before it (8 bytes)
//   note:  an entry at position zero, which is of no log: what a loader knows of the log that it mirrors
//
// Numbers are little-endian, positions are not. The first frame of a log is a mark: all entries up to its
// position were removed (zero: none). Later marks only move the end. The first key behind a mark has the
// ordinal `count` + 1, and so on. A crash or a full disk may leave the last frame torn. It counts as missing,
// and the next append removes it. Any other wrong byte is damage.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/worker/base/bytes.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "tools/program/durable_file.hpp"
#include "tools/stores/store.hpp"
#include "tools/stores/store_file.hpp"

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

// One thread. A file has one writer at a time: callers hold a lock. Readers need none. A missing file is an
// empty log. Every call throws Unavailable or Permission, or Data for damage; writes may also throw
// CannotCreate. All errors name the file.
class LogFile {
 public:
  enum class Access : std::uint8_t { OfFolder, OwnerAlone };
  // `access` decides who may read and write a new file; OfFolder: as share_as_folder() says.
  explicit LogFile(std::string path, Access access = Access::OfFolder)
      : path_(std::move(path)), access_(access) {}
  // To read a copy of such a file, which does not change any more. `name` is for messages.
  LogFile(FileDescriptor copy, std::string name)
      : path_(std::move(name)), file_(std::move(copy)), is_copy_(true) {}

  // Begins the log if it was not begun yet.
  void begin(std::uint64_t now_milliseconds);
  // Moves the end of the log to now, or to the next position if that is not above it.
  void move_end(std::uint64_t now_milliseconds);
  // Positions must rise, from above end(); throws Usage otherwise. Durable when it returns;
  // after an exception a first part may be there. An entry at position zero is a note, whatever end() is.
  void append(std::span<const LogEntry> entries);
  // The last note; empty: there is none.
  std::string note();
  // Makes durable what is there: a writer may have been killed before it has.
  void sync();
  // The entries above `after`, oldest first. Goes on where the last call stopped, or right before its last
  // key, if `after` is not below that; else it reads the file from the beginning.
  std::vector<LogEntry> read_after(const LogPosition& after, std::size_t max_entries);
  // What the log says of itself now.
  LogFacts facts();
  // The highest position ever appended. The first call reads the whole file, later ones only what is new.
  LogPosition end();
  // Removes the entries up to `up_to`, and a torn frame, by writing the others to a new file in its place.
  void trim(const LogPosition& up_to);

 private:
  struct Known {  // all before the offset is whole, and not above the position
    std::uint64_t offset = 0;
    LogPosition position{};
    LogPosition trimmed_to{};
    std::optional<LogFrameMark> last{};  // that was read: its writer may take it back if its disk fails
    LogMark mark{};                      // as it would be here
    std::string note{};
  };

  bool open(int flags);
  [[nodiscard]] mode_t new_file_mode() const noexcept {
    return access_ == Access::OfFolder ? kNewFileMode : S_IRUSR | S_IWUSR;
  }
  [[nodiscard]] bool is_known_in(const FileDescriptor& opened) const;
  void forget() noexcept;
  void keep();
  template <typename Read>
  auto reading(Read read);
  void find_end();
  void remove_torn_frame();
  static void pass(Known& known, const LogFrameReader& frames);
  static void pass(Known& known, const LogEntryView& entry);
  void append_frame(const std::string& frame);
  void append_mark(const LogPosition& position, const LogMark& mark);
  void rewrite_above(LogPosition up_to);
  void write_above(const LogPosition& up_to, const LogMark& first, DurableFile& to) const;
  void open_to_append();

  std::string path_;
  Access access_ = Access::OfFolder;
  FileDescriptor file_;  // kept open: no other file can have its inode meanwhile
  bool is_copy_ = false;
  Known read_;
  Known before_last_;  // before the last frame with keys that was read: readers look back at its last key
  Known end_;
  std::optional<std::uint64_t> kept_to_;  // all before the offset is durable, and the name
};

}  // namespace keysieve
