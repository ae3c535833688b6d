// Cuts blocks of a list into keys. Used by key_file, one in each thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "tools/keys/key_blocks.hpp"

namespace keysieve {

class KeySplitter {
 public:
  using OnKeys = std::function<void(std::span<const std::string_view> keys)>;

  KeySplitter(const KeyFileFormat& format, OnKeys on_keys);

  // Hands over all keys of the block, some at a time. Throws WrongEntry when those before it are handed over.
  void split(const KeyBlocks::Block& block);

  // Of that block so far.
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
