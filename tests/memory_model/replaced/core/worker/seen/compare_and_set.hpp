// In place of core/worker/seen/compare_and_set.hpp, which is in assembly: the model's folder of includes
// comes before the repository.
#pragma once

#include "tests/memory_model/modelled_atomic.hpp"

namespace keysieve {

inline constexpr bool kHasWideAtomics = true;

inline bool compare_and_set_16_bytes(void* at, std::uint64_t before_low, std::uint64_t before_high,
                                     std::uint64_t after_low, std::uint64_t after_high) {
  const auto* halves = static_cast<const model::ModelledAtomic<std::uint64_t>*>(at);
  static const model::Quoted kQuoted =
      model::quote("core/worker/seen/compare_and_set.hpp", "bool compare_and_set_16_bytes(");
  return model::perform({.kind = model::Kind::CompareAndSetTwo,
                         .location = halves[0].location(),
                         .second = halves[1].location(),
                         .operands = {before_low, before_high, after_low, after_high},
                         .order = std::memory_order_seq_cst,
                         .place = kQuoted.place}) != 0;
}

}  // namespace keysieve
