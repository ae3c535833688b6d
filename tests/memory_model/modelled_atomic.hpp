// Makes the product's headers that are included after this one use the memory of the model: what they call
// std::atomic is a ModelledAtomic there. It has the same size, so that pages keep their layout.
//
// Programs that include it must not be linked with the product, whose inline functions differ from these.
#pragma once

// Everything of the system that those headers include, since it must not see the macro.
#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/memory_model/explorer.hpp"

namespace keysieve::model {

template <typename T>
class ModelledAtomic {
 public:
  static constexpr bool is_always_lock_free = true;

  constexpr ModelledAtomic() noexcept : ModelledAtomic(T{}) {}
  // Implicit, as std::atomic's. A constant is no location, and must be 0.
  constexpr ModelledAtomic(T initial) noexcept {
    if (!std::is_constant_evaluated()) number_ = static_cast<T>(new_location(word(initial)) + 1);
  }
  ModelledAtomic(const ModelledAtomic&) = delete;
  ModelledAtomic& operator=(const ModelledAtomic&) = delete;

  T load(Order order = Order::seq_cst, Place place = Place::here()) const {
    return number_ == 0 ? T{} : act(Kind::Load, {}, order, place);
  }
  void store(T value, Order order = Order::seq_cst, Place place = Place::here()) {
    act(Kind::Store, value, order, place);
  }
  T fetch_or(T bits, Order order = Order::seq_cst, Place place = Place::here()) {
    return act(Kind::Or, bits, order, place);
  }
  T fetch_and(T bits, Order order = Order::seq_cst, Place place = Place::here()) {
    return act(Kind::And, bits, order, place);
  }

  // Accesses of the product that a program spells out.
  T load(const Quoted& quoted) const { return load(quoted.order, quoted.place); }
  void store(T value, const Quoted& quoted) { store(value, quoted.order, quoted.place); }
  bool compare_exchange(T& before, T after, const Quoted& quoted) {
    const T found = static_cast<T>(perform({.kind = Kind::CompareAndSet,
                                            .location = location(),
                                            .operands = {word(before), word(after)},
                                            .order = quoted.order,
                                            .failure = quoted.failure,
                                            .place = quoted.place}));
    const bool is_done = found == before;
    before = found;
    return is_done;
  }

  [[nodiscard]] std::size_t location() const noexcept { return static_cast<std::size_t>(number_) - 1; }

 private:
  static constexpr std::uint64_t word(T value) noexcept { return static_cast<std::uint64_t>(value); }
  T act(Kind kind, T operand, Order order, const Place& place) const {
    return static_cast<T>(perform(
        {.kind = kind, .location = location(), .operands = {word(operand)}, .order = order, .place = place}));
  }

  T number_ = 0;  // of the location, from 1
};

// A location of the program's own. `put` and `get` stand for bytes that are not atomic in the product: they
// guarantee nothing. By `tell` and `hears` one process hears from another.
class Value {
 public:
  void put(std::uint64_t value) { value_.store(value, Order::relaxed, Place()); }
  [[nodiscard]] std::uint64_t get() const { return value_.load(Order::relaxed, Place()); }
  // By accesses of the product that are atomic.
  void put(std::uint64_t value, const Quoted& quoted) { value_.store(value, quoted); }
  [[nodiscard]] std::uint64_t get(const Quoted& quoted) const { return value_.load(quoted); }
  void tell() { value_.store(1, Order::release, Place()); }
  [[nodiscard]] bool hears() const { return value_.load(Order::acquire, Place()) != 0; }

 private:
  ModelledAtomic<std::uint64_t> value_;
};

}  // namespace keysieve::model

namespace std {
using keysieve::model::ModelledAtomic;
}  // namespace std
#define atomic ModelledAtomic
