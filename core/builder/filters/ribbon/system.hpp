// The equations of a ribbon: the slots under a key's row, taken where its coefficients are 1, must add up to
// its value, one bit per column. Rows are made upper triangular slot by slot, then solved from the last slot
// to the first. Source: Dillinger, Walzer, "Ribbon filter: practically smaller than Bloom and Xor" (2021).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "core/worker/filters/instruction_set.hpp"
#include "core/worker/filters/ribbon/row.hpp"

#if KEYSIEVE_X86_64
#include <immintrin.h>
#endif

namespace keysieve::ribbon {

struct Equation {
  Row row;
  std::uint32_t start;
  std::uint64_t value;
};

class System {
 public:
  // `equations` are ordered by their start, and every row is inside the slots. Those that start before
  // `short_starts` have a value in the short column too, so the others are never added to them. Returns false
  // if a row depends on others and they do not agree, even on a bit that the row does not need, or if more
  // rows are under way than there is room for. Do not call solve() then.
  bool eliminate(std::span<const Equation> equations, std::uint32_t slots, std::uint32_t short_starts) {
    rows_.assign(slots, 0);
    values_.assign(slots, 0);
#if KEYSIEVE_X86_64
    if (best_instruction_set() != InstructionSet::Scalar) return eliminate_avx2(equations, short_starts);
#endif
    return eliminate_by<&Pending::step>(equations, short_starts);
  }

  // Calls emit(slot, columns) for each slot that is a multiple of eight, the last one first. The low byte of
  // columns[j] is the solution of slot to slot + 7 in column j; the short column is the last.
  template <typename Emit>
  void solve(std::uint32_t columns, Emit emit) const {
#if KEYSIEVE_X86_64
    if (best_instruction_set() != InstructionSet::Scalar) return solve_avx2(columns, emit);
#endif
    solve_all(columns, emit);
  }

 private:
  static constexpr std::uint64_t kIsShort = std::uint64_t{1} << 63;  // in values_: the row is a short one

  // Rows that have begun and are not the row of a slot yet, shifted so that bit 0 is the slot at hand. At
  // most 64 of them are independent. A row that is not taken is 0, and so is its value. Sets of rows are bits
  // of a word.
  struct Pending {
    std::array<Row, kWindow> rows{};
    std::array<std::uint64_t, kWindow> values{};
    std::uint64_t taken = 0;
    std::uint64_t short_ones = 0;
    std::uint64_t here = 0;  // those that have bit 0

    bool add(const Equation& equation, bool is_short) noexcept {
      if (~taken == 0) return false;
      const int index = std::countr_one(taken);
      const std::uint64_t bit = std::uint64_t{1} << index;
      rows[static_cast<std::size_t>(index)] = equation.row;
      values[static_cast<std::size_t>(index)] = equation.value;
      taken |= bit;
      short_ones = is_short ? short_ones | bit : short_ones & ~bit;
      here |= (equation.row & 1) << index;
      return true;
    }

    // Adds a row to every one that has bit 0, itself among them, then goes on to the next slot.
    void step(Row row, std::uint64_t value) noexcept {
      here = 0;
      for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(std::bit_width(taken)); ++i) {
        const std::uint64_t has = 0 - (rows[i] & 1);
        rows[i] = (rows[i] ^ (row & has)) >> 1;
        values[i] ^= value & has;
        here |= (rows[i] & 1) << i;
      }
    }

#if KEYSIEVE_X86_64
    // Does step() for four rows at once.
    KEYSIEVE_AVX2 void step_avx2(Row row, std::uint64_t value) noexcept {
      const __m256i row4 = _mm256_set1_epi64x(static_cast<long long>(row));
      const __m256i value4 = _mm256_set1_epi64x(static_cast<long long>(value));
      const auto end = static_cast<std::uint32_t>(std::bit_width(taken));
      std::uint64_t next = 0;
      for (std::uint32_t i = 0; i < end; i += 4) {
        auto* const at = reinterpret_cast<__m256i*>(rows.data() + i);
        auto* const value_at = reinterpret_cast<__m256i*>(values.data() + i);
        __m256i four = _mm256_loadu_si256(at);
        const __m256i has = _mm256_cmpgt_epi64(_mm256_setzero_si256(), _mm256_slli_epi64(four, 63));
        four = _mm256_srli_epi64(_mm256_xor_si256(four, _mm256_and_si256(row4, has)), 1);
        _mm256_storeu_si256(at, four);
        _mm256_storeu_si256(value_at,
                            _mm256_xor_si256(_mm256_loadu_si256(value_at), _mm256_and_si256(value4, has)));
        const int bits = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64(four, 63)));
        next |= static_cast<std::uint64_t>(bits) << i;
      }
      here = next;
    }
#endif
  };

  template <void (Pending::*kStep)(Row, std::uint64_t) noexcept>
  [[gnu::always_inline]] inline bool eliminate_by(std::span<const Equation> equations,
                                                  std::uint32_t short_starts) {
    Pending pending;
    auto next = equations.begin();
    for (std::uint32_t slot = 0; slot < rows_.size(); ++slot) {
      for (; next != equations.end() && next->start == slot; ++next) {
        if (!pending.add(*next, slot < short_starts)) return false;
      }
      if (pending.here != 0) {
        const std::uint64_t short_here = pending.here & pending.short_ones;
        const int pivot = std::countr_zero(short_here != 0 ? short_here : pending.here);
        rows_[slot] = pending.rows[static_cast<std::size_t>(pivot)];
        values_[slot] = pending.values[static_cast<std::size_t>(pivot)] | (short_here != 0 ? kIsShort : 0);
        (pending.*kStep)(rows_[slot], values_[slot] & ~kIsShort);
        pending.taken &= ~(std::uint64_t{1} << pivot);
      } else {
        (pending.*kStep)(0, 0);
      }
    }
    return std::all_of(pending.values.begin(), pending.values.end(), [](std::uint64_t v) { return v == 0; });
  }

  template <typename Emit>
  [[gnu::always_inline]] inline void solve_all(std::uint32_t columns, Emit emit) const {
    std::array<Row, 64> solution{};
    for (auto slot = static_cast<std::uint32_t>(rows_.size()); slot-- > 0;) {
      const Row row = rows_[slot];
      const std::uint64_t value = values_[slot];
      for (std::uint32_t column = 0; column < columns; ++column) {
        const Row later = solution[column] << 1;
        const std::uint64_t odd = static_cast<std::uint64_t>(std::popcount(later & row)) ^ value >> column;
        solution[column] = later | (odd & 1);
      }
      const Row later = solution[columns] << 1;
      const std::uint64_t odd = static_cast<std::uint64_t>(std::popcount(later & row)) ^ value >> columns;
      solution[columns] = later | (odd & value >> 63);
      if (slot % 8 == 0) emit(slot, std::span<const Row>(solution));
    }
  }

#if KEYSIEVE_X86_64
  KEYSIEVE_AVX2 bool eliminate_avx2(std::span<const Equation> equations, std::uint32_t short_starts) {
    return eliminate_by<&Pending::step_avx2>(equations, short_starts);
  }
  template <typename Emit>
  KEYSIEVE_AVX2 void solve_avx2(std::uint32_t columns, Emit emit) const {
    solve_all(columns, emit);
  }
#endif

  std::vector<Row> rows_;  // 0: no row has its pivot here; else bit 0 is set
  std::vector<std::uint64_t> values_;
};

}  // namespace keysieve::ribbon
