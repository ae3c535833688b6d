// The classes KeySieve\Info and KeySieve\SeenInfo, facts about sets, and KeySieve\LocalFilter. MINIT prepares
// them.
#pragma once

#include "core/worker/seen/seen_reader.hpp"
#include "core/worker/shm/set_reader.hpp"
#include "ext/zend.hpp"

namespace keysieve {

void prepare_local_filter_class(zend_class_entry* registered);
void prepare_info_class(zend_class_entry* registered);
void prepare_seen_info_class(zend_class_entry* registered);

// Describes the set that the reader has attached; there must be one. `trouble` may be nullptr, and is freed.
// Reads all shards for the fill ratio.
void make_info(zval* result, const SetReader& reader, zend_string* trouble) noexcept;
// Needs a set that is ready. Reads parts of its filters.
void make_seen_info(zval* result, const SeenReader& reader) noexcept;

}  // namespace keysieve
