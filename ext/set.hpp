// The class KeySieve\Set: a name for a set of this process.
#pragma once

#include "ext/zend.hpp"

namespace keysieve {

// What a bad set name is told.
inline constexpr const char* kSetNameRule = "1 to 64 of a-z, 0-9, _ and -, beginning with a letter or digit";

// MINIT.
void prepare_set_class(zend_class_entry* registered);

}  // namespace keysieve
