// Where to put labels that would like to stand at certain places of one line, so that none covers another.
#pragma once

#include <vector>

namespace keysieve {

// The places, in the order of `wanted`: as near to them as it goes, in their order, at least `gap` apart, and
// from `lowest` to `highest` as long as there is room for all.
std::vector<double> spread(const std::vector<double>& wanted, double gap, double lowest, double highest);

}  // namespace keysieve
