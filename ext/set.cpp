// The class KeySieve\Set, whose availability() and info() are those of KeySieve\Map too.
#include "ext/answers.hpp"
#include "ext/classes.hpp"
#include "ext/published_set.hpp"
#include "ext/set_object.hpp"

namespace keysieve {
namespace {

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
    if (UNEXPECTED(!make_array(return_value, answers.size(), /*is_packed=*/true))) return;
    fill_places(Z_ARRVAL_P(return_value), keys, answers, maybe);
  } else {
    if (UNEXPECTED(!make_array(return_value, maybe, /*is_packed=*/false))) return;
    append_candidates(Z_ARRVAL_P(return_value), keys, answers);
  }
}

// A method that takes an array of keys: asks for all of them, and has `give` make the result of the answers.
template <typename Give>
void answer_many(INTERNAL_FUNCTION_PARAMETERS, Give give) {
  zval* iterable = nullptr;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ITERABLE(iterable)
  ZEND_PARSE_PARAMETERS_END();

  auto* asked = SetObject<PublishedSet>::constructed(ZEND_THIS);
  if (UNEXPECTED(asked == nullptr)) RETURN_THROWS();
  with_answers<bool>(iterable, [&](HashTable* keys, std::span<bool> answers) {
    const auto maybe = asked->set->may_contain_many(keys, asked->terms, answers);
    if (EXPECTED(maybe)) give(return_value, keys, answers, *maybe);
  });
}

}  // namespace

}  // namespace keysieve

using keysieve::PublishedSet;
using keysieve::SetObject;
using OnUnavailable = PublishedSet::Terms::OnUnavailable;

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

  auto* asked = SetObject<PublishedSet>::construct(ZEND_THIS, name);
  if (asked == nullptr) RETURN_THROWS();
  asked->require_profile(key_profile);
  if (!is_as_configured) {
    asked->terms.on_unavailable = throws ? OnUnavailable::Throw : OnUnavailable::Maybe;
  }
}

ZEND_METHOD(KeySieve_Set, mayContain) {
  zval* key = nullptr;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    KEYSIEVE_PARAM_KEY(key)
  ZEND_PARSE_PARAMETERS_END();

  auto* asked = SetObject<PublishedSet>::constructed(ZEND_THIS);
  if (UNEXPECTED(asked == nullptr)) RETURN_THROWS();
  RETURN_BOOL(asked->set->may_contain(key, asked->terms));
}

ZEND_METHOD(KeySieve_Set, mayContainMany) {
  keysieve::answer_many(INTERNAL_FUNCTION_PARAM_PASSTHRU,
                        [](zval* result, HashTable* keys, std::span<const bool> answers, std::size_t) {
                          keysieve::return_bools(result, keys, answers);
                        });
}

ZEND_METHOD(KeySieve_Set, candidates) {
  keysieve::answer_many(INTERNAL_FUNCTION_PARAM_PASSTHRU, keysieve::return_candidates);
}

ZEND_METHOD(KeySieve_Set, availability) {
  ZEND_PARSE_PARAMETERS_NONE();

  auto* asked = SetObject<PublishedSet>::constructed(ZEND_THIS);
  if (asked == nullptr) RETURN_THROWS();
  RETURN_OBJ_COPY(keysieve::availability_case(asked->set->state(asked->terms)));
}

ZEND_METHOD(KeySieve_Set, info) {
  ZEND_PARSE_PARAMETERS_NONE();

  auto* asked = SetObject<PublishedSet>::constructed(ZEND_THIS);
  if (asked == nullptr) RETURN_THROWS();
  if (asked->set->state({}) == keysieve::SetState::Disabled) RETURN_NULL();
  const keysieve::SetReader& reader = asked->set->reader();
  if (reader.attachment() == nullptr) RETURN_NULL();
  keysieve::make_info(return_value, reader, asked->set->trouble(asked->terms));
}
