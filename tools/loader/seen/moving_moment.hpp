// The moment of a look, which moves on while the look waits for the store. Used by the keeper of a seen set:
// keys that come meanwhile, from workers or other hosts, are kept from then on. In whole seconds, none of
// which has only begun.
#pragma once

#include "core/worker/base/clock.hpp"

namespace keysieve {

class MovingMoment {
 public:
  explicit MovingMoment(const Moment& begun) noexcept : begun_(begun) {}

  [[nodiscard]] Moment now() const noexcept {
    const BootSeconds passed = (boot_now_ms() - boot_ms_) / 1'000;
    return {begun_.unix + passed, begun_.boot + passed};
  }

 private:
  Moment begun_;
  std::int64_t boot_ms_ = boot_now_ms();
};

}  // namespace keysieve
