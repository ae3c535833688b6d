// The log of adds that the suites of stores write to, and the position before its first entry.
#pragma once

#include <string>

#include "core/base/log_position.hpp"

namespace keysieve::test {

inline const std::string kLog = "keysieve:tags:adds";
inline constexpr LogPosition kBeforeAll{};

}  // namespace keysieve::test
