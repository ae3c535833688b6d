// Makes a kind's table of functions from a struct of stateless static functions, and the table of its
// lookups.
#pragma once

#include "core/builder/filters/filter_kind.hpp"

namespace keysieve {

template <typename Kind>
FilterKind kind_of() {
  FilterKind kind{
      *find_lookup_kind(Kind::kId), Kind::kSummary, Kind::cache_lines, kRetrievalUnit,
      Kind::theoretical_fpr,        Kind::build,    nullptr,           nullptr,
      Kind::estimated_fpr,
  };
  if constexpr (requires { Kind::kBlockBytes; }) kind.shard_alignment = Kind::kBlockBytes;
  if constexpr (requires { &Kind::build_map; }) {
    kind.value_capacity = Kind::value_capacity;
    kind.build_map = Kind::build_map;
  }
  return kind;
}

}  // namespace keysieve
