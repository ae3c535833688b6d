// The class KeySieve\Info: what is known of an attached set.
#pragma once

#include "core/shm/attachment.hpp"
#include "core/shm/control_page.hpp"
#include "ext/zend.hpp"

namespace keysieve {

// MINIT.
void prepare_info_class(zend_class_entry* registered);

// Reads all shards for the fill ratio.
void make_info(zval* result, const Attachment& attachment, const ControlPage& control);

}  // namespace keysieve
