#include "tools/keys/key_splitter.hpp"

#include <algorithm>

namespace keysieve {

KeySplitter::KeySplitter(const KeyFileFormat& format, OnKeys on_keys)
    : format_(format), on_keys_(std::move(on_keys)) {}

void KeySplitter::split(const KeyBlocks::Block& block) {
  entries_ = 0;
  keys_ = 0;
  std::string_view rest = block.entries;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(format_.nul_separated ? '\0' : '\n'), rest.size());
    take(rest.substr(0, end), block.number == 0 && entries_ == 0);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  hand_over();
}

void KeySplitter::take(std::string_view entry, bool is_first_of_list) {
  ++entries_;
  if (!format_.nul_separated) {
    if (is_first_of_list && entry.starts_with("\xEF\xBB\xBF")) {
      refuse(
          {.number = 1,
           .reason = "begins with a UTF-8 byte order mark, which would be part of the first key: remove it",
           .is_whole_list = true});
    }
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
