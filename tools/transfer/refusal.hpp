// Why a snapshot of a store is not taken: for metrics and history.
#pragma once

#include <algorithm>
#include <array>

#include "core/base/error.hpp"

namespace keysieve {

inline constexpr std::array kRefusals{ErrorKind::Data,    ErrorKind::Incompatible, ErrorKind::Older,
                                      ErrorKind::MaxSize, ErrorKind::MinKeys,      ErrorKind::MaxShrink,
                                      ErrorKind::MaxFpr,  ErrorKind::Canaries};

inline bool is_refusal(const Error& error) noexcept {
  return std::ranges::find(kRefusals, error.kind()) != kRefusals.end();
}

}  // namespace keysieve
