// The enum KeySieve\Availability: core's Availability plus Disabled, which core does not know.
#pragma once

#include "core/worker/shm/set_reader.hpp"
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

extern zend_class_entry* availability_class;  // since MINIT
// The case of the enum; owned by the class.
zend_object* availability_case(SetState state);

}  // namespace keysieve
