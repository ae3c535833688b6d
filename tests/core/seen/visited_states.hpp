// Visits every interleaving of a model of an add to a seen set.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace keysieve::test {

// All states that can be reached, until `next` returns false. It calls its argument with each state that can
// follow.
template <typename State, typename Next>
std::size_t visit_all(const State& first, Next next) {
  static_assert(std::has_unique_object_representations_v<State>);
  const auto bytes_of = [](const State& state) {
    return std::string(reinterpret_cast<const char*>(&state), sizeof state);
  };
  std::unordered_set<std::string> visited{bytes_of(first)};
  std::vector<State> open{first};
  while (!open.empty()) {
    const State state = open.back();
    open.pop_back();
    const bool goes_on = next(state, [&](const State& following) {
      if (visited.insert(bytes_of(following)).second) open.push_back(following);
    });
    if (!goes_on) break;
  }
  return visited.size();
}

inline constexpr std::uint8_t kMostAdders = 3;

struct Found {
  std::size_t states = 0;
  unsigned most_winners = 0;
  unsigned fewest_winners = 99;  // in the end, if the loader has not merged the tag
};

}  // namespace keysieve::test
