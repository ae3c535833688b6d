// Reads a list of keys in blocks of whole entries. Threads take blocks in turn and split them into keys.
// Used by key_file.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/worker/base/file_descriptor.hpp"
#include "tools/keys/key_file.hpp"

namespace keysieve {

// Says what is wrong with an entry. Its number in the whole list is known only once all earlier blocks are
// counted.
struct WrongEntry {
  std::uint64_t number;  // in its block, from 1 on
  std::string reason;
  bool is_whole_list = false;  // then its number means nothing
};

WrongEntry too_long(const KeyFileFormat& format, std::uint64_t number);

class KeyBlocks {
 public:
  struct Block {
    std::vector<char> buffer;
    std::string_view entries;  // in the buffer; only the last entry of a list may lack its separator
    std::uint64_t number = 0;
  };

  // Throws MissingInput, Permission.
  KeyBlocks(const std::string& path, const KeyFileFormat& format);

  // Takes the entries that have arrived, so that keys typed or piped slowly do not wait for more. Returns
  // false at the end, or after stop(). Any thread. Throws MissingInput, or WrongEntry for an entry without
  // end.
  bool take(Block& block);
  void stop();

  // The first whole lines, 64 KiB at most. Call it when all threads have ended. Empty if keys end with NUL:
  // such keys may look like anything.
  [[nodiscard]] std::string_view beginning() const noexcept { return beginning_; }
  // The last whole lines, 64 KiB at most, under the same conditions.
  [[nodiscard]] std::string_view ending() const noexcept { return ending_; }

 private:
  // Appends more bytes to the block; returns false at the end of the list.
  bool read_more(Block& block, std::size_t& filled);
  void keep_beginning(std::string_view entries);
  void keep_ending(std::string_view entries);
  [[nodiscard]] WrongEntry without_end() const;

  std::string source_;
  KeyFileFormat format_;
  FileDescriptor file_;
  int descriptor_;

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

  KeySplitter(const KeyFileFormat& format, OnKeys on_keys);

  // Passes all keys of the block to on_keys, some at a time. Throws WrongEntry after passing the keys
  // before it.
  void split(const KeyBlocks::Block& block);

  // Counts of the current block so far.
  [[nodiscard]] std::uint64_t entries() const noexcept { return entries_; }
  [[nodiscard]] std::uint64_t keys() const noexcept { return keys_; }

 private:
  void take(std::string_view entry);
  [[nodiscard]] std::string_view without_cr(std::string_view line);
  void hand_over();
  [[noreturn]] void refuse(const WrongEntry& wrong);

  KeyFileFormat format_;
  OnKeys on_keys_;
  std::uint64_t entries_ = 0;
  std::uint64_t keys_ = 0;
  std::size_t waiting_ = 0;
  std::array<std::string_view, 256> batch_{};
};

}  // namespace keysieve
