#include "tools/keys/key_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>

#include "core/builder/base/run_tasks.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/file_descriptor.hpp"
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

// Says what is wrong with an entry. Its number in the whole list is known only once all earlier blocks are
// counted.
struct WrongEntry {
  std::uint64_t number;  // in its block, from 1 on
  std::string reason;
  bool is_whole_list = false;  // then its number means nothing
};

WrongEntry too_long(const KeyFileFormat& format, std::uint64_t number) {
  return {number,
          "is longer than " + format_count(format.max_key_bytes) + " bytes, the limit for a key here"};
}

// Reads a list of keys in blocks of whole entries, which threads take in turn.
class KeyBlocks {
 public:
  struct Block {
    std::vector<char> buffer;
    std::string_view entries;  // in the buffer; only the last entry of a list may lack its separator
    std::uint64_t number = 0;
  };

  KeyBlocks(const std::string& path, const KeyFileFormat& format)
      : source_(key_source(path)), format_(format) {
    if (path == "-") return;
    file_ = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file_.is_open()) throw_read_error(path, errno);
  }

  // Takes the entries that have arrived, so that keys typed or piped slowly do not wait for more. Returns
  // false at the end, or after stop(). Any thread. Throws MissingInput, or WrongEntry for an entry without
  // end.
  bool take(Block& block) {
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
      keep(block.entries);
      return true;
    }
    at_end_ = true;
    block.entries = {block.buffer.data(), filled};
    if (filled == 0) return false;
    if (format_.nul_separated && block.number == 0) throw without_end();
    keep(block.entries);
    return true;
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    at_end_ = true;
  }

  // The first whole lines, 64 KiB at most. Call it when all threads have ended. Empty if keys end with NUL:
  // such keys may look like anything.
  [[nodiscard]] std::string_view beginning() const noexcept { return beginning_; }
  // The last whole lines, 64 KiB at most, under the same conditions.
  [[nodiscard]] std::string_view ending() const noexcept { return ending_; }

 private:
  // Appends more bytes to the block; returns false at the end of the list.
  bool read_more(Block& block, std::size_t& filled) {
    if (filled + kReadBytes > block.buffer.size()) block.buffer.resize(2 * filled + kReadBytes);
    const int descriptor = file_.is_open() ? file_.get() : STDIN_FILENO;
    for (;;) {
      const ssize_t count = ::read(descriptor, block.buffer.data() + filled, kReadBytes);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw_read_error(source_, errno);
      filled += static_cast<std::size_t>(count);
      return count != 0;
    }
  }

  void keep(std::string_view entries) {
    if (format_.nul_separated) return;
    if (!has_beginning_) {
      const std::size_t room = kSampleBytes - beginning_.size();
      has_beginning_ = entries.size() >= room;
      // Without the last, partial line: a key cut short looks like another key.
      const std::size_t end =
          entries.size() > room ? entries.substr(0, room).rfind('\n') + 1 : entries.size();
      beginning_ += entries.substr(0, end);
    }
    const std::string_view tail = entries.substr(entries.size() - std::min(entries.size(), kSampleBytes));
    const bool is_cut = tail.size() < entries.size() || ending_.size() + tail.size() > kSampleBytes;
    ending_ += tail;
    if (!is_cut) return;
    ending_.erase(0, ending_.size() - std::min(ending_.size(), kSampleBytes));
    const std::size_t first_end = ending_.find('\n');
    ending_.erase(0, first_end == std::string::npos ? first_end : first_end + 1);
  }

  // Describes an entry that is too long and still has no separator.
  WrongEntry without_end() const {
    if (!format_.nul_separated || blocks_ > 1) return too_long(format_, 1);
    return {.number = 1,
            .reason = "holds no NUL, which ends each key with -0: is there one key per line?",
            .is_whole_list = true};
  }

  std::string source_;
  KeyFileFormat format_;
  FileDescriptor file_;  // not open: standard input

  std::mutex mutex_;  // guards the members below
  std::string rest_;  // the beginning of an entry whose end is not read yet
  std::string beginning_;
  bool has_beginning_ = false;
  std::string ending_;
  std::uint64_t blocks_ = 0;
  bool at_end_ = false;
};

// Splits blocks of a list into keys. Each thread has its own.
class KeySplitter {
 public:
  using OnKeys = std::function<void(std::span<const std::string_view> keys)>;

  KeySplitter(const KeyFileFormat& format, OnKeys on_keys) : format_(format), on_keys_(std::move(on_keys)) {}

  // Passes all keys of the block to on_keys, some at a time. Throws WrongEntry after passing the keys
  // before it.
  void split(const KeyBlocks::Block& block) {
    entries_ = 0;
    keys_ = 0;
    if (block.number == 0) {
      const auto reason = wrong_beginning(block.entries, format_);
      if (reason) refuse({.number = 1, .reason = *reason, .is_whole_list = true});
    }
    const std::string_view text = format_.nul_separated ? block.entries : lines_without_nul(block.entries);
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t end = std::min(rest.find(format_.nul_separated ? '\0' : '\n'), rest.size());
      take(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (text.size() != block.entries.size()) {
      refuse({.number = entries_ + 1,
              .reason = "holds a NUL byte: do keys end with NUL (-0), or is it UTF-16?"});
    }
    hand_over();
  }

  // Counts of the current block so far.
  [[nodiscard]] std::uint64_t entries() const noexcept { return entries_; }
  [[nodiscard]] std::uint64_t keys() const noexcept { return keys_; }

 private:
  void take(std::string_view entry) {
    ++entries_;
    if (!format_.nul_separated) {
      if (entry.ends_with('\r')) {
        if (!format_.allow_cr) {
          refuse({entries_,
                  "ends in a CR, which would be part of the key and never match (--allow-cr strips it)"});
        }
        entry.remove_suffix(1);
      }
      if (entry.empty()) return;
    }
    if (entry.size() > format_.max_key_bytes) refuse(too_long(format_, entries_));
    ++keys_;
    batch_[waiting_++] = entry;
    if (waiting_ == batch_.size()) hand_over();
  }

  void hand_over() {
    if (waiting_ != 0) on_keys_({batch_.data(), waiting_});
    waiting_ = 0;
  }

  [[noreturn]] void refuse(const WrongEntry& wrong) {
    hand_over();
    throw WrongEntry(wrong);
  }

  KeyFileFormat format_;
  OnKeys on_keys_;
  std::uint64_t entries_ = 0;
  std::uint64_t keys_ = 0;
  std::size_t waiting_ = 0;
  std::array<std::string_view, 256> batch_{};
};

// Collects what the threads find in their blocks.
class Findings {
 public:
  void add_block(std::uint64_t number, std::uint64_t entries, std::uint64_t keys) {
    const std::lock_guard lock(mutex_);
    keys_ += keys;
    counted_.emplace(number, entries);
    for (auto next = counted_.find(blocks_); next != counted_.end(); next = counted_.find(++blocks_)) {
      entries_ += next->second;
      counted_.erase(next);
    }
  }

  void add_wrong(std::uint64_t block, const WrongEntry& wrong) {
    const std::lock_guard lock(mutex_);
    if (!wrong_ || block < wrong_block_) wrong_ = wrong;
    wrong_block_ = std::min(wrong_block_, block);
  }

  // Call it when all threads have ended. Blocks are taken in order, so all blocks before the first wrong
  // one are counted, and none after it.
  [[nodiscard]] std::uint64_t keys(const std::string& source, const KeyFileFormat& format) const {
    if (!wrong_) return keys_;
    if (wrong_->is_whole_list) throw Error(ErrorKind::Data, source + ": " + wrong_->reason);
    throw Error(ErrorKind::Data, source + ": " + (format.nul_separated ? "key " : "line ") +
                                     std::to_string(entries_ + wrong_->number) + " " + wrong_->reason);
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> counted_;  // entries of blocks after one that is not counted yet
  std::uint64_t blocks_ = 0;                        // entries_ covers all blocks before this one
  std::uint64_t entries_ = 0;
  std::uint64_t keys_ = 0;
  std::optional<WrongEntry> wrong_;
  std::uint64_t wrong_block_ = UINT64_MAX;
};

}  // namespace

bool is_same_file(const std::string& key_path, const std::string& path) {
  struct stat list {};
  struct stat other {};
  const int failure = key_path == "-" ? ::fstat(STDIN_FILENO, &list) : ::stat(key_path.c_str(), &list);
  if (failure != 0 || ::stat(path.c_str(), &other) != 0) return false;
  return identity_of(list) == identity_of(other);
}

KeysRead read_keys(const std::string& path, const KeyFileFormat& format,
                   const std::function<void(std::string_view key)>& on_key) {
  return read_keys_in_threads(path, format, 1, [&on_key](unsigned /*thread*/, auto keys) {
    for (const std::string_view key : keys) on_key(key);
  });
}

KeysRead read_keys_in_threads(const std::string& path, const KeyFileFormat& format, unsigned threads,
                              const OnKeys& on_keys) {
  KeyBlocks blocks(path, format);
  Findings findings;
  run_tasks(threads, threads, [&](unsigned thread, std::size_t /*task*/) {
    KeySplitter splitter(format, [&](auto keys) { on_keys(thread, keys); });
    KeyBlocks::Block block;
    try {
      while (blocks.take(block)) {
        splitter.split(block);
        findings.add_block(block.number, splitter.entries(), splitter.keys());
      }
    } catch (const WrongEntry& wrong) {
      blocks.stop();
      findings.add_wrong(block.number, wrong);
    } catch (...) {
      blocks.stop();
      throw;
    }
  });
  return {.count = findings.keys(key_source(path), format),
          .suspicions = suspicions_about(blocks.beginning(), blocks.ending(), format)};
}

}  // namespace keysieve
