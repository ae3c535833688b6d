// The list of all filter kinds. A new kind is a file in this folder and a line here; filter_kind.cpp of
// core/builder/filters does not compile until it has the kind's builder.
#pragma once

#include <algorithm>
#include <functional>

#include "core/worker/filters/binary_fuse.hpp"
#include "core/worker/filters/bit_kind.hpp"
#include "core/worker/filters/blocked_bloom.hpp"
#include "core/worker/filters/bloom.hpp"
#include "core/worker/filters/cuckoo.hpp"
#include "core/worker/filters/partitioned_bloom.hpp"
#include "core/worker/filters/ribbon.hpp"
#include "core/worker/filters/split_block_bloom.hpp"
#include "core/worker/filters/xor.hpp"

namespace keysieve {

// A list of structs of static functions, ordered by their ids.
template <typename... Policies>
struct KindList {
  static constexpr std::array<std::uint8_t, sizeof...(Policies)> kIds{Policies::kId...};
  static_assert(std::ranges::adjacent_find(kIds, std::greater_equal{}) == kIds.end(), "ids must ascend");

  constexpr explicit KindList(Policies... /*policies*/) noexcept {}

  // What make<Policy>() returns for each.
  template <typename Make>
  [[nodiscard]] constexpr auto each(Make make) const {
    return std::array{make.template operator()<Policies>()...};
  }
};

inline constexpr KindList kKinds{
    BitKind<Bloom>{},             // 1
    BitKind<PartitionedBloom>{},  // 2
    BitKind<BlockedBloom>{},      // 3
    BitKind<SplitBlockBloom>{},   // 4
    Cuckoo{},                     // 5
    PeeledKind<Xor>{},            // 6
    PeeledKind<BinaryFuse>{},     // 7
    Ribbon{},                     // 8
};

}  // namespace keysieve
