// The ids of the registry, for suites that run over every kind.
#pragma once

#include <vector>

#include "core/filters/filter_kind.hpp"

namespace keysieve::test {

inline std::vector<std::uint8_t> all_kind_ids() {
  std::vector<std::uint8_t> ids;
  for (const FilterKind& kind : filter_kinds()) ids.push_back(kind.id);
  return ids;
}

}  // namespace keysieve::test
