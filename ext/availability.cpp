#include "ext/availability.hpp"

namespace keysieve {
namespace {

zend_class_entry* availability_class = nullptr;

const char* case_name(SetState state) noexcept {
  switch (state) {
    case SetState::Ready:
      return "Ready";
    case SetState::Missing:
      return "Missing";
    case SetState::Expired:
      return "Expired";
    case SetState::Bypassed:
      return "Bypassed";
    case SetState::Incompatible:
      return "Incompatible";
    case SetState::Disabled:
      return "Disabled";
  }
  return "Missing";
}

}  // namespace

void keep_availability_class(zend_class_entry* enum_class) {
  availability_class = enum_class;
}

zend_object* availability_case(SetState state) {
  return zend_enum_get_case_cstr(availability_class, case_name(state));
}

}  // namespace keysieve
