#include "ext/availability.hpp"

namespace keysieve {
namespace {

// By the numbers of SetState.
constexpr std::array kCaseNames{"Ready", "Missing", "Expired", "Bypassed", "Incompatible", "Disabled"};
static_assert(kCaseNames.size() == static_cast<std::size_t>(SetState::Disabled) + 1);

zend_class_entry* availability_class = nullptr;
zend_class_entry* unavailable_exception_class = nullptr;

}  // namespace

void keep_availability_class(zend_class_entry* enum_class) {
  availability_class = enum_class;
}

zend_object* availability_case(SetState state) {
  return zend_enum_get_case_cstr(availability_class, kCaseNames[static_cast<std::size_t>(state)]);
}

void keep_unavailable_exception_class(zend_class_entry* registered) {
  unavailable_exception_class = registered;
}

void throw_unavailable(const std::string& message) {
  zend_throw_exception(unavailable_exception_class, message.c_str(), 0);
}

}  // namespace keysieve
