// The seen sets on the status page: one row each, and what is wrong.
#pragma once

#include <string>

#include "tools/loader/http/page/verdict.hpp"

namespace keysieve {

Verdict verdict_of(const SeenSetFacts& seen) noexcept;

// Empty if there are none.
std::string seen_table(const LoaderView& view);

}  // namespace keysieve
