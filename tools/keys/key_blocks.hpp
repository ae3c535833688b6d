// A list of keys as blocks of whole entries, which several threads take in turn. Used by key_file.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file_descriptor.hpp"
#include "tools/keys/key_file.hpp"

namespace keysieve {

// What is wrong with an entry: which one of the list it is shows only when those of all blocks before are
// counted.
struct WrongEntry {
  std::uint64_t number;  // in its block, from 1 on
  std::string reason;
  bool is_whole_list = false;  // then its number says nothing
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

  // What has arrived of the list, so that keys typed or piped slowly do not wait for more; false at the end,
  // or when somebody has called stop(). Any thread. Throws MissingInput, or WrongEntry for an entry
  // without end.
  bool take(Block& block);
  void stop();

  // The first whole lines, 64 KiB at most; when all threads have ended. Empty where keys end with NUL, which
  // may look like anything.
  [[nodiscard]] std::string_view beginning() const noexcept { return beginning_; }

 private:
  // Appends to what is in the block; false at the end of the list.
  bool read_more(Block& block, std::size_t& filled);
  void keep_beginning(std::string_view entries);
  [[nodiscard]] WrongEntry without_end() const;

  std::string source_;
  KeyFileFormat format_;
  FileDescriptor file_;
  int descriptor_;

  std::mutex mutex_;  // for what follows
  std::string rest_;  // the beginning of an entry whose end was not read yet
  std::string beginning_;
  bool has_beginning_ = false;
  std::uint64_t blocks_ = 0;
  bool at_end_ = false;
};

}  // namespace keysieve
