#include "tools/keys/key_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
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

// Why a list is refused, and at which of its entries, from 1 on; 0: all of it is wrong.
struct WrongEntry {
  std::uint64_t number;
  std::string reason;
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
    std::string_view entries;          // in the buffer; only the last entry of a list may lack its separator
    std::uint64_t entries_before = 0;  // 0: it is the first block
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
    block.buffer.resize(std::max(block.buffer.size(), rest_.size() + kReadBytes));
    std::copy(rest_.begin(), rest_.end(), block.buffer.begin());
    std::size_t filled = rest_.size();
    for (std::size_t searched = filled; read_more(block, filled); searched = filled) {
      const std::string_view text(block.buffer.data(), filled);
      const auto last = text.substr(searched).rfind(format_.separator());
      if (last == std::string_view::npos) {
        // The splitter refuses a line with a NUL, so its end need not be read.
        if (!format_.nul_separated && text.find('\0', searched) != std::string_view::npos) break;
        // A CR at the end need not be part of the key.
        if (text.size() - (text.ends_with('\r') ? 1 : 0) > format_.max_key_bytes) throw without_end();
        continue;
      }
      rest_ = text.substr(searched + last + 1);
      hand_out(block, text.substr(0, searched + last + 1));
      return true;
    }
    at_end_ = true;
    if (filled == 0) return false;
    if (format_.nul_separated && entries_ == 0) throw without_end();
    hand_out(block, {block.buffer.data(), filled});
    return true;
  }

  void stop(const std::optional<WrongEntry>& wrong = std::nullopt) {
    const std::lock_guard lock(mutex_);
    at_end_ = true;
    if (wrong && (!wrong_ || wrong->number < wrong_->number)) wrong_ = wrong;
  }

  // Call these when all threads have ended. Throws Data that names the first wrong entry: blocks are taken in
  // order, so no thread has left out an earlier one.
  void check() const {
    if (!wrong_) return;
    const std::string entry =
        (format_.nul_separated ? "key " : "line ") + std::to_string(wrong_->number) + " ";
    throw Error(ErrorKind::Data, source_ + ": " + (wrong_->number == 0 ? "" : entry) + wrong_->reason);
  }
  // The first and the last whole lines, 64 KiB at most. Empty if keys end with NUL: such keys may look like
  // anything.
  [[nodiscard]] std::string_view beginning() const noexcept {
    const std::string_view text = beginning_;
    return text.size() < kSampleBytes ? text : text.substr(0, text.rfind('\n') + 1);
  }
  [[nodiscard]] std::string_view ending() const noexcept {
    const std::string_view text = ending_;
    return text.size() < kSampleBytes ? text : text.substr(std::min(text.find('\n'), text.size() - 1) + 1);
  }

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

  void hand_out(Block& block, std::string_view entries) {
    block.entries = entries;
    block.entries_before = entries_;
    entries_ += static_cast<std::uint64_t>(std::ranges::count(entries, format_.separator()));
    if (format_.nul_separated) return;
    beginning_ += entries.substr(0, kSampleBytes - beginning_.size());
    ending_ += entries.substr(entries.size() - std::min(entries.size(), kSampleBytes));
    ending_.erase(0, ending_.size() - std::min(ending_.size(), kSampleBytes));
  }

  // Describes an entry that is too long and still has no separator.
  WrongEntry without_end() const {
    if (!format_.nul_separated || entries_ != 0) return too_long(format_, entries_ + 1);
    return {0, "holds no NUL, which ends each key with -0: is there one key per line?"};
  }

  std::string source_;
  KeyFileFormat format_;
  FileDescriptor file_;  // not open: standard input

  std::mutex mutex_;           // guards the members below
  std::string rest_;           // the beginning of an entry whose end is not read yet
  std::string beginning_;      // 64 KiB at most, which may cut a line
  std::string ending_;         // the same
  std::uint64_t entries_ = 0;  // in the blocks that were handed out
  bool at_end_ = false;
  std::optional<WrongEntry> wrong_;
};

// Splits blocks of a list into keys. Each thread has its own.
class KeySplitter {
 public:
  using OnKeys = std::function<void(std::span<const std::string_view> keys)>;

  KeySplitter(const KeyFileFormat& format, OnKeys on_keys) : format_(format), on_keys_(std::move(on_keys)) {}

  // Passes all keys of the block to on_keys, some at a time. Throws WrongEntry after passing the keys
  // before it.
  void split(const KeyBlocks::Block& block) {
    entry_ = block.entries_before;
    const auto reason = entry_ == 0 ? wrong_beginning(block.entries, format_) : std::nullopt;
    if (reason) throw WrongEntry{0, *reason};
    const std::string_view text = format_.nul_separated ? block.entries : lines_without_nul(block.entries);
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t end = std::min(rest.find(format_.separator()), rest.size());
      take(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    hand_over();
    if (text.size() == block.entries.size()) return;
    throw WrongEntry{entry_ + 1, "holds a NUL byte: do keys end with NUL (-0), or is it UTF-16?"};
  }

 private:
  void take(std::string_view entry) {
    ++entry_;
    if (!format_.nul_separated) {
      if (entry.ends_with('\r')) {
        if (!format_.allow_cr) {
          refuse({entry_,
                  "ends in a CR, which would be part of the key and never match (--allow-cr strips it)"});
        }
        entry.remove_suffix(1);
      }
      if (entry.empty()) return;
    }
    if (entry.size() > format_.max_key_bytes) refuse(too_long(format_, entry_));
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
  std::uint64_t entry_ = 0;
  std::size_t waiting_ = 0;
  std::array<std::string_view, 256> batch_{};
};

}  // namespace

bool is_same_file(const std::string& key_path, const std::string& path) {
  std::error_code failure;  // then they are not
  return std::filesystem::equivalent(key_path == "-" ? "/dev/stdin" : key_path, path, failure);
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
  std::atomic<std::uint64_t> count = 0;
  run_tasks(threads, threads, [&](unsigned thread, std::size_t /*task*/) {
    KeySplitter splitter(format, [&](auto keys) {
      count += keys.size();
      on_keys(thread, keys);
    });
    KeyBlocks::Block block;
    try {
      while (blocks.take(block)) splitter.split(block);
    } catch (const WrongEntry& wrong) {
      blocks.stop(wrong);
    } catch (...) {
      blocks.stop();
      throw;
    }
  });
  blocks.check();
  return {.count = count, .suspicions = suspicions_about(blocks.beginning(), blocks.ending(), format)};
}

}  // namespace keysieve
