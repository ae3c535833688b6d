#include "core/filters/instruction_set.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace keysieve {
namespace {

constexpr std::array kAll{InstructionSet::Scalar, InstructionSet::Avx2, InstructionSet::Avx512};

InstructionSet of_this_processor() noexcept {
#if KEYSIEVE_X86_64
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vpopcntdq")) {
    return InstructionSet::Avx512;
  }
  if (avx2) return InstructionSet::Avx2;
#endif
  return InstructionSet::Scalar;
}

InstructionSet best_that_is_allowed() noexcept {
  const char* text = std::getenv("KEYSIEVE_INSTRUCTION_SET");
  const std::string_view named = text == nullptr ? "" : text;
  if (named == "scalar") return InstructionSet::Scalar;
  if (named == "avx2") return std::min(InstructionSet::Avx2, of_this_processor());
  return of_this_processor();
}

}  // namespace

InstructionSet best_instruction_set() noexcept {
  static const InstructionSet best = best_that_is_allowed();
  return best;
}

std::span<const InstructionSet> instruction_sets() noexcept {
  return std::span(kAll).first(static_cast<std::size_t>(of_this_processor()) + 1);
}

}  // namespace keysieve
