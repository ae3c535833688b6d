// XXH3-64, unseeded: guards against damage, not against forgery (owner and mode decide who may write). Out of
// line, because it is never called on the lookup path and xxHash's header is long.
#pragma once

#include <cstdint>
#include <memory>

#include "core/worker/base/bytes.hpp"

namespace keysieve {

std::uint64_t checksum(Bytes bytes) noexcept;

// The same for bytes that arrive piece by piece.
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
