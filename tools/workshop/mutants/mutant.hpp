// What rewritten sources call, included into each by the compiler's option. All mutants are compiled at once:
// KEYSIEVE_MUTANT is the number of the one that is chosen. KEYSIEVE_REACHED is a file with a byte for each
// number, which becomes 1 where a process with this variable, or a child of one, passes by. Both are read
// before main() or as a module is loaded, so workers of php-fpm, which clears their environment, have them
// from their master. Used by tools/workshop/mutants/run.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>

namespace keysieve_mutants {

inline int number_chosen() noexcept {
  const char* number = std::getenv("KEYSIEVE_MUTANT");
  return number == nullptr ? -1 : std::atoi(number);
}

struct Reached {
  volatile unsigned char* bytes = nullptr;
  std::size_t count = 0;
};

// Nothing without the variable, or for a process that cannot see the file, in a root of its own.
inline Reached map_reached() noexcept {
  const char* path = std::getenv("KEYSIEVE_REACHED");
  const int file = path == nullptr ? -1 : ::open(path, O_RDWR | O_CLOEXEC);
  struct stat found;
  if (file < 0 || ::fstat(file, &found) != 0) return {};
  const auto count = static_cast<std::size_t>(found.st_size);
  void* bytes = ::mmap(nullptr, count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (bytes == MAP_FAILED) return {};
  return {static_cast<unsigned char*>(bytes), count};
}

inline const int chosen = number_chosen();
inline const Reached reached = map_reached();

// Is this mutant the chosen one? Constants keep their values.
constexpr bool is(int number) noexcept {
  if (__builtin_is_constant_evaluated()) return false;
  if (reached.bytes != nullptr) reached.bytes[number] = 1;
  return chosen == number;
}

template <typename T>
constexpr T one_more(int number, T value) noexcept {
  return is(number) ? static_cast<T>(value + 1) : value;
}

#define KEYSIEVE_MUTANT_OPERATOR(name, right, wrong)                           \
  template <typename Left, typename Right>                                     \
  constexpr auto name(int number, const Left& left, const Right& right_side) { \
    return is(number) ? (left wrong right_side) : (left right right_side);     \
  }
KEYSIEVE_MUTANT_OPERATOR(less, <, <=)
KEYSIEVE_MUTANT_OPERATOR(at_most, <=, <)
KEYSIEVE_MUTANT_OPERATOR(greater, >, >=)
KEYSIEVE_MUTANT_OPERATOR(at_least, >=, >)
KEYSIEVE_MUTANT_OPERATOR(equal, ==, !=)
KEYSIEVE_MUTANT_OPERATOR(different, !=, ==)
KEYSIEVE_MUTANT_OPERATOR(plus, +, -)
KEYSIEVE_MUTANT_OPERATOR(minus, -, +)
KEYSIEVE_MUTANT_OPERATOR(times, *, +)
KEYSIEVE_MUTANT_OPERATOR(divided, /, *)
KEYSIEVE_MUTANT_OPERATOR(modulo, %, *)
KEYSIEVE_MUTANT_OPERATOR(bits_and, &, |)
KEYSIEVE_MUTANT_OPERATOR(bits_or, |, &)
KEYSIEVE_MUTANT_OPERATOR(bits_xor, ^, &)
KEYSIEVE_MUTANT_OPERATOR(left_shifted, <<, >>)
KEYSIEVE_MUTANT_OPERATOR(right_shifted, >>, <<)
#undef KEYSIEVE_MUTANT_OPERATOR

}  // namespace keysieve_mutants
