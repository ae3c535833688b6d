#include "ext/unavailable_exception.hpp"

namespace keysieve {
namespace {

zend_class_entry* unavailable_exception_class = nullptr;

}  // namespace

void keep_unavailable_exception_class(zend_class_entry* registered) {
  unavailable_exception_class = registered;
}

void throw_unavailable(const std::string& message) {
  zend_throw_exception(unavailable_exception_class, message.c_str(), 0);
}

}  // namespace keysieve
