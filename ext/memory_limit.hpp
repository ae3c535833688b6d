// Asked before the extension takes memory of a size that a script chooses. PHPs without delayed_oom
// end the script at the allocation that exceeds memory_limit. PHP 8.2.36, for example, grants it, reports the
// error when the method returns, and kills the process, without its shutdown functions, where it has twice
// the limit.
#pragma once

#include <algorithm>
#include <bit>

#include "ext/zend.hpp"

#ifdef ZEND_HAS_OOM
// nullptr in an older patch release of the same PHP, which has no EG(delayed_oom) either.
extern "C" [[gnu::weak]] ZEND_API void ZEND_FASTCALL zend_handle_delayed_oom();
extern "C" [[gnu::weak]] ZEND_API void* ZEND_FASTCALL
_safe_femalloc(size_t nmemb, size_t size, size_t offset ZEND_FILE_LINE_DC ZEND_FILE_LINE_ORIG_DC);
#endif

namespace keysieve {

// Whether memory_limit was exceeded: the script ends as soon as this method returns.
inline bool is_out_of_memory() noexcept {
#ifdef ZEND_HAS_OOM
  return zend_handle_delayed_oom != nullptr && EG(delayed_oom).state == ZEND_OOM_STATE_PENDING;
#else
  return false;
#endif
}

// What is smaller cannot reach twice the limit, and is not asked for: a page's keys.
inline constexpr std::size_t kSmallBytes = 16'384;

[[gnu::cold]] inline bool has_room_slowly([[maybe_unused]] std::size_t bytes) {
#ifdef ZEND_HAS_OOM
  if (_safe_femalloc != nullptr) {
    void* room = safe_femalloc(1, bytes, 0, true);
    if (room == nullptr) return false;
    efree(room);
  }
#endif
  return !is_out_of_memory();
}

// Whether memory_limit leaves room for so much. If not, the script ends as soon as this method returns, which
// must be at once.
inline bool has_room(std::size_t bytes) {
  return EXPECTED(bytes <= kSmallBytes) || has_room_slowly(bytes);
}

// The bytes of an array for so many elements.
inline std::size_t array_bytes(std::size_t elements, bool is_packed) noexcept {
  const std::size_t places = std::bit_ceil(std::max<std::size_t>(elements, HT_MIN_SIZE));
  return places * (is_packed ? sizeof(zval) : sizeof(Bucket) + sizeof(std::uint32_t));
}

// Makes an array for so many elements. False, and null, if there is no room (has_room).
inline bool make_array(zval* array, std::size_t elements, bool is_packed) {
  ZVAL_NULL(array);
  if (UNEXPECTED(!has_room(array_bytes(elements, is_packed)))) return false;
  array_init_size(array, static_cast<std::uint32_t>(elements));
  return true;
}

}  // namespace keysieve
