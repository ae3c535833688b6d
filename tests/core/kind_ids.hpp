// The kinds of the registry, and shard sizes, as parameters of suites that run over every kind.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "core/builder/filters/filter_kind.hpp"

namespace keysieve::test {

inline auto every_kind_id() {
  std::vector<std::uint8_t> ids;
  for (const FilterKind& kind : filter_kinds()) ids.push_back(kind.id);
  return ::testing::ValuesIn(ids);
}
// The Bloom family: bits that are set one key at a time, and nothing in the shard's entry but their number.
inline bool is_bit_kind(const FilterKind& kind) {
  return kind.fill_ratio != nullptr &&
         kind.fault_of({.hash_count = kind.hash_counts.back()}, {.seed = 1}) != nullptr;
}
inline std::string name_of_kind(const ::testing::TestParamInfo<std::uint8_t>& tested) {
  return std::string(find_filter_kind(tested.param)->name);
}

inline auto every_shard_size() {
  return ::testing::Values(1024U, 2048U, 4096U, 8192U);
}
using KindAndShardBytes = std::tuple<std::uint8_t, std::uint32_t>;
inline std::string name_of_kind_and_size(const ::testing::TestParamInfo<KindAndShardBytes>& tested) {
  const auto& [id, shard_bytes] = tested.param;
  return std::string(find_filter_kind(id)->name) + "_" + std::to_string(shard_bytes);
}

}  // namespace keysieve::test
