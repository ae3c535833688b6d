// The class KeySieve\Set: a name for a set of this process.
#pragma once

#include "ext/zend.hpp"

namespace keysieve {

// Called from MINIT.
void prepare_set_class(zend_class_entry* registered);

}  // namespace keysieve
