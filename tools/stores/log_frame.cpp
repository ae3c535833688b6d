// The frames of a log file: their bytes, and reading one after the other.
#include "tools/stores/log_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/builder/base/file_io.hpp"
#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"
#include "tools/stores/store_file.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kSectorBytes = 512;  // the least that any disk writes as a whole
// A header never spans two sectors, since a power loss may lose one of them.
constexpr std::size_t kFrameAlignment = 32;
constexpr std::uint64_t kMagic = 0x31474f4c5359454b;  // "KEYSLOG1"
constexpr std::uint32_t kMark = 0xffffffff;
constexpr std::size_t kMarkBytes = 24;
static_assert(sizeof(LogMark) == kMarkBytes);
constexpr std::size_t kEntryHeadBytes = sizeof(LogPosition) + sizeof(std::uint32_t);
// Limit of a payload with several entries: a reader that stops inside a frame re-reads at most this much.
constexpr std::size_t kFullFrameBytes = std::size_t{256} * 1024;
constexpr std::size_t kReadBytes = std::size_t{256} * 1024;

struct FrameHeader {
  std::uint64_t magic;
  std::uint32_t entry_count;
  std::uint32_t payload_bytes;
  std::uint64_t payload_checksum;
  std::uint64_t header_checksum;
};
static_assert(sizeof(FrameHeader) == kFrameAlignment);

std::uint64_t checksum_of(const FrameHeader& header) {
  return checksum(std::as_bytes(std::span(&header, 1)).first(offsetof(FrameHeader, header_checksum)));
}

bool is_valid(const FrameHeader& header) {
  return header.magic == kMagic && header.header_checksum == checksum_of(header) && header.entry_count > 0 &&
         header.payload_bytes % kFrameAlignment == 0;
}

template <typename T>
void append_bytes(std::string& to, const T& value) {
  to.append(as_text(std::as_bytes(std::span(&value, 1))));
}

bool is_zero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

// After a power loss a file system may keep the file's new size but lose sectors of it, which are then zero.
bool has_lost_sector(Bytes bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const Bytes sector =
        bytes.first(std::min<std::size_t>(bytes.size(), kSectorBytes - offset % kSectorBytes));
    if (is_zero(sector)) return true;
    bytes = bytes.subspan(sector.size());
    offset += sector.size();
  }
  return false;
}

// Completes a frame whose header is still zero.
std::string sealed(std::string frame, std::size_t entry_count) {
  frame.append((kFrameAlignment - frame.size() % kFrameAlignment) % kFrameAlignment, '\xff');
  const Bytes payload = as_bytes(frame).subspan(sizeof(FrameHeader));
  FrameHeader header{kMagic, static_cast<std::uint32_t>(entry_count),
                     static_cast<std::uint32_t>(payload.size()), checksum(payload), 0};
  header.header_checksum = checksum_of(header);
  std::memcpy(frame.data(), &header, sizeof header);
  return frame;
}

}  // namespace

std::size_t entries_of_one_frame(std::span<const LogEntry> entries) {
  std::size_t bytes = 0;
  std::size_t count = 0;
  while (count < entries.size() &&
         (count == 0 || bytes + kEntryHeadBytes + entries[count].key.size() <= kFullFrameBytes)) {
    bytes += kEntryHeadBytes + entries[count++].key.size();
  }
  return count;
}

std::string encode_log_frame(std::span<const LogEntry> entries) {
  std::string frame(sizeof(FrameHeader), '\0');
  for (const LogEntry& entry : entries) {
    append_bytes(frame, entry.position);
    append_bytes(frame, static_cast<std::uint32_t>(entry.key.size()));
    frame.append(entry.key);
  }
  return sealed(std::move(frame), entries.size());
}

std::string encode_log_mark(const LogPosition& position, const LogMark& mark) {
  std::string frame(sizeof(FrameHeader), '\0');
  append_bytes(frame, position);
  append_bytes(frame, kMark);
  append_bytes(frame, mark);
  return sealed(std::move(frame), 1);
}

bool is_there(const LogFrameMark& frame, const FileDescriptor& file) {
  std::uint64_t found = 0;
  const auto at = static_cast<off_t>(frame.offset + offsetof(FrameHeader, header_checksum));
  return ::pread(file.get(), &found, sizeof found, at) == sizeof found && found == frame.header_checksum;
}

bool LogFrameReader::next() {
  offset_ = end_;
  const Bytes head = at(offset_, sizeof(FrameHeader));
  if (head.size() < sizeof(FrameHeader)) return false;
  const auto header = load<FrameHeader>(head.data());
  const std::uint64_t payload_offset = offset_ + sizeof(FrameHeader);
  if (!is_valid(header)) {
    if (is_zero(at(offset_, sizeof(FrameHeader))) && !is_followed(payload_offset)) return false;
    refuse();
  }
  if (header.payload_bytes > kReadBytes &&
      static_cast<std::uint64_t>(stat_of(file_, path_).st_size) < payload_offset + header.payload_bytes)
    return false;
  const Bytes payload = at(payload_offset, header.payload_bytes);
  if (payload.size() < header.payload_bytes) return false;
  if (checksum(payload) != header.payload_checksum) {
    if (has_lost_sector(payload, payload_offset) && at(payload_offset + header.payload_bytes, 1).empty()) {
      return false;
    }
    refuse();
  }
  decode(payload, header.entry_count);
  mark_ = {offset_, header.header_checksum};
  end_ = payload_offset + header.payload_bytes;
  return true;
}

// Returns the bytes, fewer only at the end of the file. Valid until the next call.
Bytes LogFrameReader::at(std::uint64_t offset, std::size_t bytes) {
  const std::uint64_t buffer_end = buffer_offset_ + buffer_.size();
  if (offset < buffer_offset_ || offset + bytes > buffer_end) {
    buffer_.resize(std::max(bytes, kReadBytes));
    buffer_offset_ = offset;
    const auto size = read_up_to(file_, offset, buffer_);
    const int failure = errno;
    buffer_.resize(size.value_or(0));
    if (!size) throw_store_error(path_, failure);
  }
  const Bytes known = Bytes(buffer_).subspan(offset - buffer_offset_);
  return known.first(std::min(bytes, known.size()));
}

// Whether a frame begins there or later: then everything before it was whole once.
bool LogFrameReader::is_followed(std::uint64_t offset) {
  for (;; offset += kFrameAlignment) {
    const Bytes head = at(offset, sizeof(FrameHeader));
    if (head.size() < sizeof(FrameHeader)) return false;
    if (is_valid(load<FrameHeader>(head.data()))) return true;
  }
}

void LogFrameReader::decode(Bytes payload, std::uint32_t entry_count) {
  entries_.clear();
  for (std::uint32_t i = 0; i < entry_count; ++i) {
    if (payload.size() < kEntryHeadBytes) refuse();
    LogEntryView entry{load<LogPosition>(payload.data()), std::nullopt, {}};
    const auto key_bytes = load<std::uint32_t>(payload.data() + sizeof(LogPosition));
    payload = payload.subspan(kEntryHeadBytes);
    if (key_bytes == kMark) {
      if (payload.size() < kMarkBytes) refuse();
      entry.mark = load<LogMark>(payload.data());
      payload = payload.subspan(kMarkBytes);
    } else {
      if (payload.size() < key_bytes) refuse();
      entry.key = as_text(payload.first(key_bytes));
      payload = payload.subspan(key_bytes);
    }
    entries_.push_back(entry);
  }
}

void LogFrameReader::refuse() const {
  throw Error(ErrorKind::Data, path_ + ": is damaged at byte " + std::to_string(offset_));
}

}  // namespace keysieve
