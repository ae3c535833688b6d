// The two expectations behind every theoretical FPR: over how many keys fall into a block, and over how many
// bits those keys set.
#pragma once

#include <cmath>

namespace keysieve {

// Mean of f(n) for a Poisson distributed n: the keys of one block when many keys are spread by a hash. Sums
// the range that holds all but 1e-15 of the mass, from the mode to both sides, because there each weight
// follows from its neighbour by one multiplication.
template <typename Function>
double poisson_mean(double mean, Function f) {
  if (mean <= 0.0) return f(0.0);
  const double reach = 10.0 * std::sqrt(mean) + 20.0;
  const double mode = std::floor(mean);
  int sign = 1;  // lgamma() stores it in a global, which is a race
  const double highest = std::exp(mode * std::log(mean) - mean - ::lgamma_r(mode + 1.0, &sign));
  double sum = 0.0;
  double weight = highest;
  for (double n = mode; n >= 0.0 && n >= mean - reach; n -= 1.0) {
    sum += weight * f(n);
    weight *= n / mean;
  }
  weight = highest;
  for (double n = mode + 1.0; n <= mean + reach; n += 1.0) {
    weight *= mean / n;
    sum += weight * f(n);
  }
  return sum;
}

// Like poisson_mean(), for an f without jumps, from about 80 values of it. Sums a bell curve in steps of a
// quarter of the standard deviation, which is exact to within e^(-32 pi^2), far below rounding.
template <typename Function>
double smooth_poisson_mean(double mean, Function f) {
  const double step = std::floor(std::sqrt(mean) / 4.0);
  if (step < 2.0) return poisson_mean(mean, f);
  const double reach = 10.0 * std::sqrt(mean) + 20.0;
  double sum = 0.0;
  for (double n = std::fmax(0.0, std::floor(mean - reach)); n <= mean + reach; n += step) {
    int sign = 1;
    sum += std::exp(n * std::log(mean) - mean - ::lgamma_r(n + 1.0, &sign)) * f(n);
  }
  return sum * step;
}

// Chance that `probes` random bits are all set after `throws` random bits of `bits` were set. It is the mean
// of (X / bits)^probes, where X is the number of set bits. The formula (1 - (1 - 1/m)^t)^k is too low for
// small m, by 1.3 % at m = 512, k = 7. The second-order term corrects that. See Bose et al., "On the
// false-positive rate of Bloom filters" (2008).
inline double chance_all_set(double bits, double throws, double probes) {
  const double empty = std::pow(1.0 - 1.0 / bits, throws);
  if (probes == 1.0) return 1.0 - empty;  // exact
  const double pair_empty = std::pow(1.0 - 2.0 / bits, throws);
  const double mean = bits * (1.0 - empty);
  if (mean <= 0.0) return 0.0;
  const double variance = bits * (bits - 1.0) * pair_empty + bits * empty - bits * bits * empty * empty;
  const double correction = 0.5 * probes * (probes - 1.0) * variance / (mean * mean);
  return std::fmin(1.0, std::pow(mean / bits, probes) * (1.0 + correction));
}

}  // namespace keysieve
