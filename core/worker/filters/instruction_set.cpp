#include "core/worker/filters/instruction_set.hpp"

#include <array>
#include <cstdlib>
#include <string_view>

namespace keysieve {
namespace {

InstructionSet of_this_processor() noexcept {
#if KEYSIEVE_AARCH64
  return InstructionSet::Neon;
#elif KEYSIEVE_X86_64
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
      __builtin_cpu_supports("popcnt")) {
    return InstructionSet::Avx2;
  }
#endif
  return InstructionSet::Scalar;
}

InstructionSet best_that_is_allowed() noexcept {
  const char* text = std::getenv("KEYSIEVE_INSTRUCTION_SET");
  const bool only_scalar = text != nullptr && std::string_view(text) == "scalar";
  return only_scalar ? InstructionSet::Scalar : of_this_processor();
}

}  // namespace

InstructionSet best_instruction_set() noexcept {
  static const InstructionSet best = best_that_is_allowed();
  return best;
}

std::span<const InstructionSet> instruction_sets() noexcept {
  static const std::array sets{InstructionSet::Scalar, of_this_processor()};
  return std::span(sets).first(sets[0] == sets[1] ? 1 : 2);
}

}  // namespace keysieve
