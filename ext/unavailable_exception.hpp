// The class KeySieve\UnavailableException: thrown instead of answering maybe, for those who set
// keysieve.on_unavailable=throw.
#pragma once

#include <string>

#include "ext/zend.hpp"

namespace keysieve {

// MINIT.
void keep_unavailable_exception_class(zend_class_entry* registered);

void throw_unavailable(const std::string& message);

}  // namespace keysieve
