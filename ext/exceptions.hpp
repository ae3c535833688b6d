// What the extension itself throws: KeySieve\UnavailableException instead of answering maybe, and
// KeySieve\InvalidNameException for a string that no set can be called.
#pragma once

#include <string_view>

#include "ext/availability.hpp"

namespace keysieve {

inline constexpr const char* kSetNameRule =
    "1 to 64 characters a-z, 0-9, _ or -, beginning with a letter or digit";

// Since MINIT.
extern zend_class_entry* invalid_name_exception_class;
extern zend_class_entry* unavailable_exception_class;

// Frees the message. Runs PHP code, perhaps, which may ask new sets: `set_name` may be gone afterwards.
void throw_unavailable(std::string_view set_name, SetState state, zend_string* message);
// For argument 1.
void throw_invalid_name(const zend_string* name);

}  // namespace keysieve
