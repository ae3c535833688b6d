// What the extension does where memory runs out that it does not take from PHP's own allocator. No C++
// exception may cross into PHP. Lookups answer maybe, and what they would log waits for the next look. A set
// that there is no memory for is one that is missing, until the next call (AttachedTable) or, if there was
// none when the request began, the next request (SetsBySource).
#pragma once

#include <new>
#include <string>

#include "ext/zend.hpp"

namespace keysieve {

// For work that only tells something, to the log or by info(). Does what memory lasts for.
template <typename Work>
void if_memory_lasts(const Work& work) noexcept {
  try {
    work();
  } catch (const std::bad_alloc&) {
  }
}

// Makes the text of an exception, or a short one when memory runs out.
template <typename Make>
std::string text_if_memory_lasts(const Make& make) noexcept {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return "out of memory";  // short enough to need none
  }
}

}  // namespace keysieve
