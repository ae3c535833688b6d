// The class KeySieve\SeenSet: a name for a seen set of this host.
#pragma once

#include "ext/zend.hpp"

namespace keysieve {

// Called from MINIT.
void prepare_seen_set_class(zend_class_entry* registered);

}  // namespace keysieve
