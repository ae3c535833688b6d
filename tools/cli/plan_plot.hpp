// What `keysieve plan --plot` prints: data and commands for gnuplot 5, without a terminal, which the user
// chooses. Bits per key of every kind against FPR, dashed where it is not usual, with the bound that no
// filter can pass, and a dot for the recommended kind: what a lower FPR costs.
#pragma once

#include <string>
#include <string_view>

#include "core/builder/filters/sizing.hpp"

namespace keysieve {

std::string plan_plot(const SizingRequest& request, std::string_view recommended, double theoretical_fpr,
                      double bits_per_key);

}  // namespace keysieve
