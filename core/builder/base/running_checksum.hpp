#pragma once

#include <cstdint>
#include <memory>

#include "core/worker/base/bytes.hpp"

namespace keysieve {

// checksum() (checksum.hpp) of bytes that arrive piece by piece.
class RunningChecksum {
 public:
  RunningChecksum();
  RunningChecksum(const RunningChecksum&) = delete;
  RunningChecksum& operator=(const RunningChecksum&) = delete;
  ~RunningChecksum();

  void add(Bytes bytes) noexcept;
  [[nodiscard]] std::uint64_t value() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace keysieve
