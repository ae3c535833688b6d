#include "tools/program/nearest_name.hpp"

#include <algorithm>

namespace keysieve {
namespace {

constexpr std::size_t kShortestBeginning = 3;

// Optimal string alignment: distances[i][j] is that of the first i letters of a from the first j of b.
std::size_t mistakes_between(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> distances(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        distances[i][j] = i + j;
        continue;
      }
      const std::size_t wrong = a[i - 1] == b[j - 1] ? 0 : 1;
      distances[i][j] =
          std::min({distances[i - 1][j] + 1, distances[i][j - 1] + 1, distances[i - 1][j - 1] + wrong});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        distances[i][j] = std::min(distances[i][j], distances[i - 2][j - 2] + 1);
      }
    }
  }
  return distances[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view word, const std::vector<std::string>& names) {
  std::size_t fewest = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::optional<std::string> nearest;
  for (const std::string& name : names) {
    const bool is_beginning = word.size() >= kShortestBeginning && name.starts_with(word);
    const std::size_t mistakes = is_beginning ? 1 : mistakes_between(word, name);
    if (mistakes >= fewest) continue;
    fewest = mistakes;
    nearest = name;
  }
  return nearest;
}

}  // namespace keysieve
