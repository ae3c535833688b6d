#include "tools/keys/key_splitter.hpp"

#include <algorithm>

#include "tools/keys/list_signature.hpp"

namespace keysieve {
namespace {

// Those before the first line that holds a NUL.
std::string_view lines_without_nul(std::string_view lines) {
  const std::size_t nul = lines.find('\0');
  return nul == std::string_view::npos ? lines : lines.substr(0, lines.substr(0, nul).rfind('\n') + 1);
}

}  // namespace

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
