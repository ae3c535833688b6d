// The class KeySieve\Info: facts about an attached set.
#pragma once

#include "core/worker/shm/set_reader.hpp"
#include "ext/zend.hpp"

namespace keysieve {

// Called from MINIT.
void prepare_info_class(zend_class_entry* registered);

// Describes the set that the reader has attached; there must be one. `trouble` may be empty. Reads all shards
// for the fill ratio.
void make_info(zval* result, const SetReader& reader, const std::string& trouble);

}  // namespace keysieve
