#include "ext/availability.hpp"

namespace keysieve {
namespace {

// By the numbers of SetState.
constexpr std::array kCaseNames{"Ready", "Missing", "Expired", "Bypassed", "Incompatible", "Disabled"};
static_assert(kCaseNames.size() == static_cast<std::size_t>(SetState::Disabled) + 1);

}  // namespace

zend_class_entry* availability_class = nullptr;

zend_object* availability_case(SetState state) {
  return zend_enum_get_case_cstr(availability_class, kCaseNames[static_cast<std::size_t>(state)]);
}

}  // namespace keysieve
