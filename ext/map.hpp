// The class KeySieve\Map: a name for a map of this process.
#pragma once

#include "ext/zend.hpp"

namespace keysieve {

// Called from MINIT.
void prepare_map_class(zend_class_entry* registered);

}  // namespace keysieve
