// The tables of `keysieve status`: a row for each set, and below them why sets do not answer.
#pragma once

#include <vector>

#include "tools/status/seen_set_facts.hpp"
#include "tools/status/set_facts.hpp"

namespace keysieve {

// With more columns if it may be wide: without them it usually fits into 100 characters.
void print_set_table(const std::vector<SetFacts>& sets, UnixSeconds now, bool is_wide);
void print_seen_set_table(const std::vector<SeenSetFacts>& sets, UnixSeconds now, bool is_wide);

}  // namespace keysieve
