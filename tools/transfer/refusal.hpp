// Why a snapshot of a store is not taken: in short, for metrics and history. The message has the details.
#pragma once

#include <array>
#include <string_view>

#include "core/base/error.hpp"

namespace keysieve {

enum class Refusal {
  Damaged,       // bytes are missing or wrong
  Incompatible,  // of a format or kind that this version does not know
  Older,         // than what was there already
  MaxSize,       // the guards, by the names of their settings
  MinKeys,
  MaxShrink,
  MaxFpr,
  Canaries,
};

inline constexpr std::array kRefusals{Refusal::Damaged, Refusal::Incompatible, Refusal::Older,
                                      Refusal::MaxSize, Refusal::MinKeys,      Refusal::MaxShrink,
                                      Refusal::MaxFpr,  Refusal::Canaries};

std::string_view to_string(Refusal refusal) noexcept;

// A snapshot that is whole and not wanted.
class RefusedError : public DataError {
 public:
  RefusedError(Refusal refusal, const std::string& message) : DataError(message), refusal_(refusal) {}
  [[nodiscard]] Refusal refusal() const noexcept { return refusal_; }

 private:
  Refusal refusal_;
};

// Of an error that is about a snapshot's bytes.
Refusal refusal_of(const Error& error) noexcept;

}  // namespace keysieve
