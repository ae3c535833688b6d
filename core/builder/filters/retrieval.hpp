// Builds the second levels of shards.
#pragma once

#include <optional>
#include <span>

#include "core/worker/filters/retrieval.hpp"

namespace keysieve {

// Bytes of a second level for that many keys: enough for one of the 256 seeds, with all but certainty.
std::uint32_t retrieval_bytes_for(double keys) noexcept;

// Fills a zeroed second level. Returns the seed, or nothing if the keys do not fit: then the level is too
// small for them. The hashes are distinct.
std::optional<std::uint8_t> build_retrieval(MutableBytes level, std::span<const KeyHash> ones,
                                            std::span<const KeyHash> zeros);

}  // namespace keysieve
