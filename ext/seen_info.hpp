// The class KeySieve\SeenInfo: facts about a seen set that is ready.
#pragma once

#include "core/worker/seen/seen_reader.hpp"
#include "ext/zend.hpp"

namespace keysieve {

// Called from MINIT.
void prepare_seen_info_class(zend_class_entry* registered);

// Needs a set that is ready. Reads parts of its filters.
void make_seen_info(zval* result, const SeenReader& reader);

}  // namespace keysieve
