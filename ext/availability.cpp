#include "ext/availability.hpp"

namespace keysieve {
namespace {

// By the numbers of SetState.
constexpr std::array kCaseNames{"Ready", "Missing", "Expired", "Bypassed", "Incompatible", "Disabled"};
static_assert(kCaseNames.size() == static_cast<std::size_t>(SetState::Disabled) + 1);

zend_class_entry* the_class = nullptr;

}  // namespace

void keep_availability_class(zend_class_entry* enum_class) {
  the_class = enum_class;
}

zend_class_entry* availability_class() {
  return the_class;
}

zend_object* availability_case(SetState state) {
  return zend_enum_get_case_cstr(the_class, kCaseNames[static_cast<std::size_t>(state)]);
}

}  // namespace keysieve
