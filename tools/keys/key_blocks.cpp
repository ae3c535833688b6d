#include "tools/keys/key_blocks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/worker/base/error.hpp"
#include "tools/keys/suspect_lines.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

// Bytes per read, at least. Less costs more system calls; more leaves the nearest caches before its keys
// are hashed.
constexpr std::size_t kReadBytes = std::size_t{256} * 1024;

// Some thousand lines, more than enough to see what a list looks like at either end.
constexpr std::size_t kSampleBytes = std::size_t{64} * 1024;

// Returns the lines before the first one that holds a NUL.
std::string_view lines_without_nul(std::string_view lines) {
  const std::size_t nul = lines.find('\0');
  return nul == std::string_view::npos ? lines : lines.substr(0, lines.substr(0, nul).rfind('\n') + 1);
}

}  // namespace

WrongEntry too_long(const KeyFileFormat& format, std::uint64_t number) {
  return {number,
          "is longer than " + format_count(format.max_key_bytes) + " bytes, the limit for a key here"};
}

KeyBlocks::KeyBlocks(const std::string& path, const KeyFileFormat& format)
    : source_(key_source(path)), format_(format), descriptor_(STDIN_FILENO) {
  if (path == "-") return;
  file_ = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file_.is_open()) throw_read_error(path, errno);
  descriptor_ = file_.get();
}

bool KeyBlocks::take(Block& block) {
  const std::lock_guard lock(mutex_);
  if (at_end_) return false;
  block.number = blocks_++;
  block.buffer.resize(std::max(block.buffer.size(), rest_.size() + kReadBytes));
  std::copy(rest_.begin(), rest_.end(), block.buffer.begin());
  std::size_t filled = rest_.size();
  for (std::size_t searched = filled; read_more(block, filled); searched = filled) {
    const std::string_view text(block.buffer.data(), filled);
    const auto last = text.substr(searched).rfind(format_.nul_separated ? '\0' : '\n');
    if (last == std::string_view::npos) {
      // The splitter refuses a line with a NUL, so its end need not be read.
      if (!format_.nul_separated && text.find('\0', searched) != std::string_view::npos) break;
      // A CR at the end need not be part of the key.
      if (text.size() - (text.ends_with('\r') ? 1 : 0) > format_.max_key_bytes) throw without_end();
      continue;
    }
    block.entries = text.substr(0, searched + last + 1);
    rest_ = text.substr(block.entries.size());
    keep_beginning(block.entries);
    keep_ending(block.entries);
    return true;
  }
  at_end_ = true;
  block.entries = {block.buffer.data(), filled};
  if (filled == 0) return false;
  if (format_.nul_separated && block.number == 0) throw without_end();
  keep_beginning(block.entries);
  keep_ending(block.entries);
  return true;
}

// Describes an entry that is too long and still has no separator.
WrongEntry KeyBlocks::without_end() const {
  if (!format_.nul_separated || blocks_ > 1) return too_long(format_, 1);
  return {.number = 1,
          .reason = "holds no NUL, which ends each key with -0: is there one key per line?",
          .is_whole_list = true};
}

void KeyBlocks::keep_beginning(std::string_view entries) {
  if (has_beginning_ || format_.nul_separated) return;
  const std::size_t room = kSampleBytes - beginning_.size();
  has_beginning_ = entries.size() >= room;
  // Drops the last, partial line: a key cut short looks like another key.
  if (entries.size() > room) entries = entries.substr(0, entries.substr(0, room).rfind('\n') + 1);
  beginning_ += entries;
}

void KeyBlocks::keep_ending(std::string_view entries) {
  if (format_.nul_separated) return;
  const std::string_view tail = entries.substr(entries.size() - std::min(entries.size(), kSampleBytes));
  const bool is_cut = tail.size() < entries.size() || ending_.size() + tail.size() > kSampleBytes;
  ending_ += tail;
  if (!is_cut) return;
  ending_.erase(0, ending_.size() - std::min(ending_.size(), kSampleBytes));
  const std::size_t first_end = ending_.find('\n');
  ending_.erase(0, first_end == std::string::npos ? first_end : first_end + 1);
}

void KeyBlocks::stop() {
  const std::lock_guard lock(mutex_);
  at_end_ = true;
}

bool KeyBlocks::read_more(Block& block, std::size_t& filled) {
  if (filled + kReadBytes > block.buffer.size()) block.buffer.resize(2 * filled + kReadBytes);
  for (;;) {
    const ssize_t count = ::read(descriptor_, block.buffer.data() + filled, kReadBytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_read_error(source_, errno);
    filled += static_cast<std::size_t>(count);
    return count != 0;
  }
}

KeySplitter::KeySplitter(const KeyFileFormat& format, OnKeys on_keys)
    : format_(format), on_keys_(std::move(on_keys)) {}

void KeySplitter::split(const KeyBlocks::Block& block) {
  entries_ = 0;
  keys_ = 0;
  if (block.number == 0) {
    const auto reason = wrong_beginning(block.entries, format_);
    if (reason) refuse({.number = 1, .reason = *reason, .is_whole_list = true});
  }
  const std::string_view text = format_.nul_separated ? block.entries : lines_without_nul(block.entries);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(format_.nul_separated ? '\0' : '\n'), rest.size());
    take(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (text.size() != block.entries.size()) {
    refuse(
        {.number = entries_ + 1, .reason = "holds a NUL byte: do keys end with NUL (-0), or is it UTF-16?"});
  }
  hand_over();
}

void KeySplitter::take(std::string_view entry) {
  ++entries_;
  if (!format_.nul_separated) {
    if (entry.ends_with('\r')) entry = without_cr(entry);
    if (entry.empty()) return;
  }
  if (entry.size() > format_.max_key_bytes) refuse(too_long(format_, entries_));
  ++keys_;
  batch_[waiting_++] = entry;
  if (waiting_ == batch_.size()) hand_over();
}

std::string_view KeySplitter::without_cr(std::string_view line) {
  if (format_.allow_cr) return line.substr(0, line.size() - 1);
  refuse({.number = entries_,
          .reason = "ends in a CR, which would be part of the key and never match (--allow-cr strips it)"});
}

void KeySplitter::hand_over() {
  if (waiting_ != 0) on_keys_({batch_.data(), waiting_});
  waiting_ = 0;
}

void KeySplitter::refuse(const WrongEntry& wrong) {
  hand_over();
  throw WrongEntry(wrong);
}

}  // namespace keysieve
