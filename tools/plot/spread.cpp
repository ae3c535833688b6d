#include "tools/plot/spread.hpp"

#include <algorithm>
#include <numeric>

namespace keysieve {

std::vector<double> spread(const std::vector<double>& wanted, double gap, double lowest, double highest) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&wanted](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });

  // Upwards from the lowest each keeps clear of the one before; then downwards from the highest.
  std::vector<double> places(wanted.size());
  double free_from = lowest;
  for (const std::size_t i : order) {
    places[i] = std::max(wanted[i], free_from);
    free_from = places[i] + gap;
  }
  double free_to = highest;
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    places[*i] = std::min(places[*i], free_to);
    free_to = places[*i] - gap;
  }
  return places;
}

}  // namespace keysieve
