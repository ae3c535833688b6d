// What an object of the classes KeySieve\Set and KeySieve\Map holds, and what both of them do alike.
#pragma once

#include "ext/attached_sets.hpp"
#include "ext/named_object.hpp"

namespace keysieve {

struct AskedSet {
  AttachedSet* set = nullptr;  // of this thread
  Terms terms;                 // its key profile is held by the property

  static AttachedTable<AttachedSet>& table() noexcept { return KEYSIEVE_G(attached_sets)->sets(); }
};
using SetObject = NamedObject<AskedSet>;

// For a constructor: as NamedObject::construct(), and fills the second property, the key profile, which may
// be nullptr.
AskedSet* construct_asked(zval* object, zend_string* name, zend_string* key_profile);

// The methods availability() and info().
void return_availability(INTERNAL_FUNCTION_PARAMETERS);
void return_info(INTERNAL_FUNCTION_PARAMETERS);

}  // namespace keysieve
