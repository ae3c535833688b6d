// The product's protocols as programs of the explorer. Headers run as they are; what sources do beside system
// calls is spelled out, with the orders that stand there (quote()).
#pragma once

#include <string>
#include <vector>

#include "tests/memory_model/explorer.hpp"

namespace keysieve::model {

struct Protocol {
  std::string name;
  MakeProgram make;
};
std::vector<Protocol> published_sets();
std::vector<Protocol> seen_sets();

}  // namespace keysieve::model
