// What PHP code is told of a set that does not answer: the enum KeySieve\Availability, which is core's
// Availability and Disabled, which core does not know; and the class KeySieve\UnavailableException, thrown
// instead of answering maybe with keysieve.on_unavailable=throw.
#pragma once

#include <string>

#include "core/shm/set_reader.hpp"
#include "ext/zend.hpp"

namespace keysieve {

enum class SetState : std::uint8_t { Ready, Missing, Expired, Bypassed, Incompatible, Disabled };

constexpr SetState state_of(Availability availability) noexcept {
  return static_cast<SetState>(availability);
}
static_assert(state_of(Availability::Ready) == SetState::Ready);
static_assert(state_of(Availability::Missing) == SetState::Missing);
static_assert(state_of(Availability::Expired) == SetState::Expired);
static_assert(state_of(Availability::Bypassed) == SetState::Bypassed);
static_assert(state_of(Availability::Incompatible) == SetState::Incompatible);

// Lookups were switched off on purpose, and maybe is the answer that was asked for, so nothing is thrown and,
// for Disabled, nothing logged.
constexpr bool is_switched_off(SetState state) noexcept {
  return state == SetState::Bypassed || state == SetState::Disabled;
}

// MINIT.
void keep_availability_class(zend_class_entry* enum_class);

// The case of the enum; owned by the class.
zend_object* availability_case(SetState state);

// MINIT.
void keep_unavailable_exception_class(zend_class_entry* registered);

void throw_unavailable(const std::string& message);

}  // namespace keysieve
