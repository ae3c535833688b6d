// The histogram of the shards of a set, as an SVG element for the status page.
#pragma once

#include <string>

#include "tools/loader/http/shard_distribution.hpp"

namespace keysieve {

std::string distribution_svg(const ShardDistribution& distribution);
// "1,221 shards, fill ratio 46.1 % to 53.8 %"
std::string distribution_caption(const ShardDistribution& distribution);

}  // namespace keysieve
