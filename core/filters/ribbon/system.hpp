// The equations of a ribbon: the slots under a key's row, taken where its coefficients are 1, must add up to
// its value, one bit per column. Rows are made upper triangular as they arrive, then solved from the last
// slot to the first. Source: Dillinger, Walzer, "Ribbon filter: practically smaller than Bloom and Xor"
// (2021).
#pragma once

#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "core/filters/ribbon/row.hpp"

namespace keysieve::ribbon {

inline bool parity(Row bits) noexcept {
  return std::popcount(bits) % 2 != 0;
}

class System {
 public:
  struct Equation {
    Row row;
    std::uint32_t start;
    std::uint32_t value;
  };

  // Equations ordered by their start need the fewest steps. Returns false if they contradict each other; then
  // solve() must not be called. Every row is inside the slots.
  bool eliminate(std::span<const Equation> equations, std::uint32_t slots) {
    rows_.assign(slots, 0);
    values_.assign(slots, 0);
    for (const Equation& equation : equations) {
      if (!insert(equation)) return false;
    }
    return true;
  }

  // From the last slot to the first, calls emit(slot, columns) for each slot that is a multiple of `stride`:
  // bit i of columns[j] is the solution of slot + i in column j.
  template <typename Emit>
  void solve(std::uint32_t columns, std::uint32_t stride, Emit emit) const {
    std::vector<Row> solution(columns, 0);
    for (auto slot = static_cast<std::uint32_t>(rows_.size()); slot-- > 0;) {
      const Row row = rows_[slot];
      const std::uint32_t value = values_[slot];
      for (std::uint32_t column = 0; column < columns; ++column) {
        const Row later = solution[column] << 1;
        solution[column] = later | static_cast<Row>(parity(later & row) ^ (value >> column & 1));
      }
      if (slot % stride == 0) emit(slot, std::span<const Row>(solution));
    }
  }

 private:
  bool insert(const Equation& equation) {
    Row row = equation.row;
    std::uint32_t value = equation.value;
    for (std::size_t slot = equation.start;;) {
      if (rows_[slot] == 0) {
        rows_[slot] = row;
        values_[slot] = value;
        return true;
      }
      row ^= rows_[slot];
      value ^= values_[slot];
      if (row == 0) return value == 0;
      const int zeros = std::countr_zero(row);
      row >>= zeros;
      slot += static_cast<std::size_t>(zeros);
    }
  }

  std::vector<Row> rows_;  // 0: no row begins here; else bit 0 is set
  std::vector<std::uint32_t> values_;
};

}  // namespace keysieve::ribbon
