#include "ext/set.hpp"

#include "ext/attached_sets.hpp"
#include "ext/exceptions.hpp"
#include "ext/info.hpp"

namespace keysieve {
namespace {

zend_object_handlers set_handlers;

struct SetObject {
  AttachedSet* set;  // of this thread; nullptr before the constructor has run
  Terms terms;       // its key profile is held by the property
  zend_object std;   // last: PHP puts the properties behind it

  static SetObject* of(zend_object* object) noexcept {
    return reinterpret_cast<SetObject*>(reinterpret_cast<char*>(object) - offsetof(SetObject, std));
  }
};

zend_object* create_set(zend_class_entry* of_class) {
  auto* object = static_cast<SetObject*>(zend_object_alloc(sizeof(SetObject), of_class));
  object->set = nullptr;
  object->terms = {};
  zend_object_std_init(&object->std, of_class);
  object_properties_init(&object->std, of_class);
  object->std.handlers = &set_handlers;
  return &object->std;
}

// nullptr, with an Error pending, for an object whose constructor has not run. Other code can see one only
// from within an error handler.
SetObject* constructed(zval* object) {
  SetObject* set = SetObject::of(Z_OBJ_P(object));
  if (EXPECTED(set->set != nullptr)) return set;
  zend_throw_error(nullptr, "KeySieve\\Set object is not initialized");
  return nullptr;
}

// The answers to all elements of an array: on the stack for as many keys as pages ask for.
class Answers {
 public:
  explicit Answers(HashTable* keys) : count_(zend_hash_num_elements(keys)) {
    answers_ = count_ <= on_stack_.size() ? on_stack_.data() : static_cast<bool*>(emalloc(count_));
  }
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;
  ~Answers() {
    if (answers_ != on_stack_.data()) efree(answers_);
  }
  [[nodiscard]] std::span<bool> get() noexcept { return {answers_, count_}; }

 private:
  std::array<bool, 64> on_stack_;
  std::size_t count_;
  bool* answers_;
};

bool is_list(HashTable* keys) noexcept {
  return HT_IS_PACKED(keys) && HT_IS_WITHOUT_HOLES(keys);
}

// Under the array key it had. The table knows no such key yet.
void append(HashTable* to, zend_string* name, zend_ulong index, zval* value) {
  if (name != nullptr) {
    zend_hash_add_new(to, name, value);
  } else {
    zend_hash_index_add_new(to, index, value);
  }
}

void append_bools(HashTable* result, HashTable* keys, std::span<const bool> answers) {
  zend_ulong index = 0;
  zend_string* name = nullptr;
  auto answer = answers.begin();
  ZEND_HASH_FOREACH_KEY(keys, index, name) {
    zval value;
    ZVAL_BOOL(&value, *answer++);
    append(result, name, index, &value);
  }
  ZEND_HASH_FOREACH_END();
}

void fill_list(HashTable* result, std::span<const bool> answers) {
  zend_hash_real_init_packed(result);
  ZEND_HASH_FILL_PACKED(result) {
#pragma GCC unroll 4  // else half of the instructions are the loop's own
    for (const bool answer : answers) {
      ZVAL_BOOL(__fill_val, answer);
      ZEND_HASH_FILL_NEXT();
    }
  }
  ZEND_HASH_FILL_END();
}

void return_bools(zval* return_value, HashTable* keys, std::span<const bool> answers, std::size_t /*maybe*/) {
  array_init_size(return_value, zend_hash_num_elements(keys));
  if (is_list(keys)) {
    fill_list(Z_ARRVAL_P(return_value), answers);
  } else {
    append_bools(Z_ARRVAL_P(return_value), keys, answers);
  }
}

void append_candidates(HashTable* result, HashTable* keys, std::span<const bool> answers) {
  zend_ulong index = 0;
  zend_string* name = nullptr;
  zval* key = nullptr;
  auto answer = answers.begin();
  ZEND_HASH_FOREACH_KEY_VAL(keys, index, name, key) {
    if (!*answer++) continue;
    ZVAL_DEREF(key);
    Z_TRY_ADDREF_P(key);
    append(result, name, index, key);
  }
  ZEND_HASH_FOREACH_END();
}

// The candidates at their places, and holes, whose type is 0, between them. Without a branch per answer: no
// processor foresees which of a page's keys exist.
void fill_places(HashTable* result, HashTable* keys, std::span<const bool> answers, std::size_t maybe) {
  static_assert(IS_UNDEF == 0);
  zend_hash_real_init_packed(result);
  zval* key = keys->arPacked;
  ZEND_HASH_FILL_PACKED(result) {
#pragma GCC unroll 4  // else a third of the instructions are the loop's own
    for (const bool answer : answers) {
      zval* value = key++;
      ZVAL_DEREF(value);
      const std::uint32_t times = answer ? 1 : 0;
      if (Z_REFCOUNTED_P(value)) GC_ADDREF_EX(Z_COUNTED_P(value), times);
      ZVAL_COPY_VALUE_EX(__fill_val, value, Z_COUNTED_P(value), Z_TYPE_INFO_P(value) * times);
      ZEND_HASH_FILL_NEXT();
    }
  }
  ZEND_HASH_FILL_END();
  result->nNumOfElements = static_cast<std::uint32_t>(maybe);
}

// A place of a list takes 16 bytes, an element of a table 36 and more.
constexpr std::size_t kPlacesPerCandidate = 3;

void return_candidates(zval* return_value, HashTable* keys, std::span<const bool> answers,
                       std::size_t maybe) {
  if (maybe == 0) RETURN_EMPTY_ARRAY();
  while (!answers.back()) answers = answers.first(answers.size() - 1);
  if (is_list(keys) && answers.size() <= maybe * kPlacesPerCandidate) {
    array_init_size(return_value, static_cast<std::uint32_t>(answers.size()));
    fill_places(Z_ARRVAL_P(return_value), keys, answers, maybe);
  } else {
    array_init_size(return_value, static_cast<std::uint32_t>(maybe));
    append_candidates(Z_ARRVAL_P(return_value), keys, answers);
  }
}

// A method that takes an array of keys: asks for all of them, and has `give` make the result of the answers.
template <typename Give>
void answer_many(INTERNAL_FUNCTION_PARAMETERS, Give give) {
  HashTable* keys = nullptr;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ARRAY_HT(keys)
  ZEND_PARSE_PARAMETERS_END();

  SetObject* object = constructed(ZEND_THIS);
  if (UNEXPECTED(object == nullptr)) RETURN_THROWS();
  Answers answers(keys);
  const auto maybe = object->set->may_contain_many(keys, object->terms, answers.get());
  if (UNEXPECTED(!maybe)) RETURN_THROWS();
  give(return_value, keys, answers.get(), *maybe);
}

}  // namespace

void prepare_set_class(zend_class_entry* registered) {
  registered->create_object = create_set;
  set_handlers = std_object_handlers;
  set_handlers.offset = offsetof(SetObject, std);
  set_handlers.clone_obj = nullptr;
  // Two objects of one set may answer differently.
  set_handlers.compare = zend_objects_not_comparable;
}

}  // namespace keysieve

using OnUnavailable = keysieve::Terms::OnUnavailable;
using keysieve::constructed;
using keysieve::SetObject;

ZEND_METHOD(KeySieve_Set, __construct) {
  zend_string* name = nullptr;
  zend_string* key_profile = nullptr;
  bool throws = false;
  bool is_as_configured = true;
  ZEND_PARSE_PARAMETERS_START(1, 3)
    Z_PARAM_STR(name)
    Z_PARAM_OPTIONAL
    Z_PARAM_STR_OR_NULL(key_profile)
    Z_PARAM_BOOL_OR_NULL(throws, is_as_configured)
  ZEND_PARSE_PARAMETERS_END();

  SetObject* object = SetObject::of(Z_OBJ_P(ZEND_THIS));
  if (object->set != nullptr) {
    zend_throw_error(nullptr, "Cannot modify readonly property KeySieve\\Set::$name");
    RETURN_THROWS();
  }
  keysieve::AttachedSet* set = KEYSIEVE_G(attached_sets)->find(name);
  if (set == nullptr) {
    keysieve::throw_invalid_name(name);
    RETURN_THROWS();
  }
  object->set = set;
  object->terms.key_profile = key_profile;
  if (!is_as_configured) {
    object->terms.on_unavailable = throws ? OnUnavailable::Throw : OnUnavailable::Maybe;
  }
  ZVAL_STR_COPY(OBJ_PROP_NUM(&object->std, 0), name);
  zval* profile_property = OBJ_PROP_NUM(&object->std, 1);
  if (key_profile == nullptr) {
    ZVAL_NULL(profile_property);
  } else {
    ZVAL_STR_COPY(profile_property, key_profile);
  }
}

ZEND_METHOD(KeySieve_Set, mayContain) {
  zval* key = nullptr;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    KEYSIEVE_PARAM_KEY(key)
  ZEND_PARSE_PARAMETERS_END();

  SetObject* object = constructed(ZEND_THIS);
  if (UNEXPECTED(object == nullptr)) RETURN_THROWS();
  RETURN_BOOL(object->set->may_contain(key, object->terms));
}

ZEND_METHOD(KeySieve_Set, mayContainMany) {
  keysieve::answer_many(INTERNAL_FUNCTION_PARAM_PASSTHRU, keysieve::return_bools);
}

ZEND_METHOD(KeySieve_Set, candidates) {
  keysieve::answer_many(INTERNAL_FUNCTION_PARAM_PASSTHRU, keysieve::return_candidates);
}

ZEND_METHOD(KeySieve_Set, availability) {
  ZEND_PARSE_PARAMETERS_NONE();

  SetObject* object = constructed(ZEND_THIS);
  if (object == nullptr) RETURN_THROWS();
  RETURN_OBJ_COPY(keysieve::availability_case(object->set->state(object->terms.key_profile)));
}

ZEND_METHOD(KeySieve_Set, info) {
  ZEND_PARSE_PARAMETERS_NONE();

  SetObject* object = constructed(ZEND_THIS);
  if (object == nullptr) RETURN_THROWS();
  if (object->set->state(nullptr) == keysieve::SetState::Disabled) RETURN_NULL();
  const keysieve::SetReader& reader = object->set->reader();
  if (reader.attachment() == nullptr) RETURN_NULL();
  keysieve::make_info(return_value, reader, object->set->trouble(object->terms.key_profile));
}
