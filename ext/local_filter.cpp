#include <new>

#include "core/worker/seen/local_filter.hpp"
#include "ext/classes.hpp"
#include "ext/key.hpp"
#include "ext/memory_limit.hpp"

namespace keysieve {
namespace {

struct LocalFilterObject {
  void* memory;  // nullptr before the constructor has run
  LocalFilter filter;
  alignas(KeyHasher) std::array<std::byte, sizeof(KeyHasher)> hasher;  // constructed with the memory
  zend_object std;  // last: PHP puts the properties behind it

  static LocalFilterObject* of(zend_object* object) noexcept {
    return reinterpret_cast<LocalFilterObject*>(reinterpret_cast<char*>(object) -
                                                offsetof(LocalFilterObject, std));
  }
  [[nodiscard]] KeyHash hash(const zval* key) const noexcept {
    return hash_of(key, *std::launder(reinterpret_cast<const KeyHasher*>(hasher.data())));
  }
};

zend_object_handlers local_filter_handlers;

zend_object* create_local_filter(zend_class_entry* of_class) {
  auto* object = static_cast<LocalFilterObject*>(zend_object_alloc(sizeof(LocalFilterObject), of_class));
  object->memory = nullptr;
  object->filter = {};
  zend_object_std_init(&object->std, of_class);
  object_properties_init(&object->std, of_class);
  object->std.handlers = &local_filter_handlers;
  return &object->std;
}

void free_local_filter(zend_object* object) {
  if (void* memory = LocalFilterObject::of(object)->memory; memory != nullptr) efree(memory);
  zend_object_std_dtor(object);
}

// Takes the memory. False with an exception pending, or without room (has_room).
bool construct(LocalFilterObject& object, std::uint64_t keys) {
  HashSeed seed;
  if (php_random_bytes_throw(&seed, sizeof seed) == FAILURE) return false;
  const std::uint64_t words = LocalFilter::words_for(keys);
  const std::size_t bytes = words * sizeof(Word) + kCacheLineBytes;
  if (!has_room(bytes)) return false;
  object.memory = ecalloc(1, bytes);
  const std::size_t past_line = reinterpret_cast<std::uintptr_t>(object.memory) % kCacheLineBytes;
  auto* line = static_cast<std::byte*>(object.memory) + (kCacheLineBytes - past_line) % kCacheLineBytes;
  object.filter = LocalFilter(std::span(reinterpret_cast<Word*>(line), words));
  new (object.hasher.data()) KeyHasher(seed);
  return true;
}

// A method that takes one key: has `answer` answer its hash.
template <typename Ask>
void answer_by(INTERNAL_FUNCTION_PARAMETERS, Ask ask) {
  zval* key = nullptr;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    KEYSIEVE_PARAM_KEY(key)
  ZEND_PARSE_PARAMETERS_END();

  LocalFilterObject& object = *LocalFilterObject::of(Z_OBJ_P(ZEND_THIS));
  if (UNEXPECTED(object.memory == nullptr)) {
    zend_throw_error(nullptr, "KeySieve\\LocalFilter object is not initialized");
    RETURN_THROWS();
  }
  RETURN_BOOL(ask(object.filter, object.hash(key)));
}

}  // namespace

void prepare_local_filter_class(zend_class_entry* registered) {
  registered->create_object = create_local_filter;
  local_filter_handlers = std_object_handlers;
  local_filter_handlers.offset = offsetof(LocalFilterObject, std);
  local_filter_handlers.free_obj = free_local_filter;
  local_filter_handlers.clone_obj = nullptr;
  local_filter_handlers.compare = zend_objects_not_comparable;
}

}  // namespace keysieve

ZEND_METHOD(KeySieve_LocalFilter, __construct) {
  zend_long keys = 0;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_LONG(keys)
  ZEND_PARSE_PARAMETERS_END();

  using keysieve::LocalFilterObject;
  LocalFilterObject& object = *LocalFilterObject::of(Z_OBJ_P(ZEND_THIS));
  if (object.memory != nullptr) {
    zend_throw_error(nullptr, "KeySieve\\LocalFilter is constructed already");
    RETURN_THROWS();
  }
  if (keys < 1 || static_cast<std::uint64_t>(keys) > keysieve::LocalFilter::kMaxKeys) {
    zend_argument_value_error(1, "must be between 1 and %d, " ZEND_LONG_FMT " given",
                              static_cast<int>(keysieve::LocalFilter::kMaxKeys), keys);
    RETURN_THROWS();
  }
  keysieve::construct(object, static_cast<std::uint64_t>(keys));
}

ZEND_METHOD(KeySieve_LocalFilter, add) {
  keysieve::answer_by(INTERNAL_FUNCTION_PARAM_PASSTHRU,
                      [](keysieve::LocalFilter& filter, keysieve::KeyHash hash) noexcept {
                        filter.add_if_new(hash);
                        return false;
                      });
  RETVAL_NULL();
}

ZEND_METHOD(KeySieve_LocalFilter, addIfNew) {
  keysieve::answer_by(
      INTERNAL_FUNCTION_PARAM_PASSTHRU,
      [](keysieve::LocalFilter& filter, keysieve::KeyHash hash) noexcept { return filter.add_if_new(hash); });
}

ZEND_METHOD(KeySieve_LocalFilter, mayContain) {
  keysieve::answer_by(INTERNAL_FUNCTION_PARAM_PASSTHRU,
                      [](keysieve::LocalFilter& filter, keysieve::KeyHash hash) noexcept {
                        return filter.may_contain(hash);
                      });
}
