// Which vector instructions lookups may use, detected once per process. All of them give the same answers,
// bit by bit; the scalar one is the reference that tests compare with.
#pragma once

#include <cstdint>
#include <span>

// KEYSIEVE_AVX2 marks functions compiled for more than the baseline; they run only if best_instruction_set()
// allows it. Neon needs no mark, because every aarch64 processor has it.
#if defined(__x86_64__)
#define KEYSIEVE_X86_64 1
#define KEYSIEVE_AVX2 [[gnu::target("avx2,bmi,bmi2,popcnt")]]
#elif defined(__aarch64__)
#define KEYSIEVE_AARCH64 1
#endif

namespace keysieve {

enum class InstructionSet : std::uint8_t {
  Scalar,
  Avx2,  // on x86-64
  Neon,  // on aarch64
};

// The best that this processor and its system can run, or Scalar if the environment has
// KEYSIEVE_INSTRUCTION_SET=scalar, for comparisons.
InstructionSet best_instruction_set() noexcept;

// All that this processor can run, Scalar first.
std::span<const InstructionSet> instruction_sets() noexcept;

}  // namespace keysieve
