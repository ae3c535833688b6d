// What the extension does where memory runs out that it does not take from PHP's own allocator. No C++
// exception may cross into PHP. Lookups answer maybe, and what they would log waits for the next look.
#pragma once

#include <new>

#include "ext/zend.hpp"

namespace keysieve {

// What is only for the log, as far as memory lasts.
template <typename Work>
void if_memory_lasts(const Work& work) noexcept {
  try {
    work();
  } catch (const std::bad_alloc&) {
  }
}

// A text for an exception.
template <typename Make>
std::string text_if_memory_lasts(const Make& make) noexcept {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return "out of memory";  // short enough to need none
  }
}

// What a script cannot go on without: it ends, as it does at memory_limit. Its callers, up to PHP, must not
// have anything to destroy.
template <typename Work>
decltype(auto) or_end_script(const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
  }
  zend_error_noreturn(E_ERROR, "Out of memory");
}

}  // namespace keysieve
