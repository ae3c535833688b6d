// Which vector instructions lookups may use, detected once per process. All of them give the same answers,
// bit by bit; the scalar one is the reference that tests compare with.
#pragma once

#include <cstdint>
#include <span>

// Attributes of functions compiled for more than the baseline; they run only if best_instruction_set() allows
// it.
#if defined(__x86_64__)
#define KEYSIEVE_X86_64 1
#define KEYSIEVE_AVX2 [[gnu::target("avx2,bmi,bmi2,popcnt")]]
#define KEYSIEVE_AVX512 \
  [[gnu::target("avx2,bmi,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512vpopcntdq")]]
#endif

namespace keysieve {

enum class InstructionSet : std::uint8_t {
  Scalar,
  Avx2,
  Avx512,  // F, BW, DQ, VL, VBMI2 and VPOPCNTDQ: Ice Lake and Zen 4 onwards
};

// The best that this processor and its system can run. The environment variable KEYSIEVE_INSTRUCTION_SET
// (scalar, avx2, avx512) can lower it, for comparisons and for tools that do not know newer instructions.
InstructionSet best_instruction_set() noexcept;

// All that this processor can run, Scalar first.
std::span<const InstructionSet> instruction_sets() noexcept;

}  // namespace keysieve
