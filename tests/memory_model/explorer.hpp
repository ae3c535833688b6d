// Goes through everything that a small program of up to four threads can do under C++'s memory model: every
// order of its accesses, every message that a load may read. Protocols (protocols.hpp) run the product's own
// code here: modelled_atomic.hpp puts its accesses in the place of std::atomic's.
//
// A thread is a function that is called again for each of its steps. Its accesses return what they have
// returned before; at the first one that has not happened yet the call is left by longjmp. So functions must
// do the same each time, and must not own anything at an access that a destructor has to free.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/memory_model/memory.hpp"

namespace keysieve::model {

// Where an access stands in the source.
struct Place {
  const char* file = "";  // any path that ends with the one in the repository
  unsigned line = 0;

  // As the default of an argument: where the call stands. (clang 14 has no std::source_location.)
  static Place here(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

// An access that a program spells out because the product makes it beside system calls. Its orders are those
// that stand in the source, so the two cannot diverge.
struct Quoted {
  Place place;
  Order order = Order::seq_cst;
  Order failure = Order::relaxed;  // of a compare-and-set
};
// Finds an access by the text before its orders, up to and including the parenthesis. `file` is a path in the
// repository, which must have that text once. Ends the program if not.
Quoted quote(const char* file, const std::string& text);

enum class Kind : std::uint8_t { Load, Store, Or, And, CompareAndSet, CompareAndSetTwo };

struct Access {
  Kind kind = Kind::Load;
  std::size_t location = 0;
  std::size_t second = 0;                   // of CompareAndSetTwo
  std::array<std::uint64_t, 4> operands{};  // what to write; of a compare-and-set: before, after; of both
  Order order = Order::relaxed;
  Order failure = Order::relaxed;
  Place place{};  // none: belongs to the program, not to the product
};

// Ends the program. No exception: functions that are noexcept with real atomics come here.
[[noreturn]] void give_up(const std::string& reason) noexcept;

// Returns what was there before. CompareAndSetTwo returns whether it was done.
std::uint64_t perform(const Access& access);
std::size_t new_location(std::uint64_t initial);

struct Program {
  std::vector<std::function<void()>> threads;
  std::function<void()> at_end;  // when all have ended; accesses return the last values. May be empty
};
// Makes the program with all that its threads share.
using MakeProgram = std::function<Program()>;

// What must hold in every execution.
void require(bool holds, const char* what);

// "core/worker/seen/word.hpp:80", and what happens there.
using PlaceName = std::string;
struct Used {
  Kind kind = Kind::Load;
  Order order = Order::relaxed;
};
struct Weakening {
  PlaceName place;
  Order order = Order::relaxed;
};

struct Explored {
  std::uint64_t states = 0;
  std::map<PlaceName, Used> places;
  std::string violation;  // what does not hold, and the steps to it; empty: everything holds
};
// Ends at the first violation.
Explored explore(const MakeProgram& make, const std::optional<Weakening>& weakening = {});

// Those that are weaker by one or more steps, strongest first.
std::vector<Order> weaker_orders(const Used& used);
std::string to_string(Order order);

}  // namespace keysieve::model
