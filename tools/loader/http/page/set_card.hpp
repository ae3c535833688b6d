// What the status page says of one set.
#pragma once

#include <string>

#include "tools/loader/http/loader_view.hpp"

namespace keysieve {

// Its state, and the loader's trouble with it.
std::string state_badges(const SetFacts& set);
std::string set_card(const SetFacts& set, const LoaderView& view);

}  // namespace keysieve
