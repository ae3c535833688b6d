#include "ext/classes.hpp"

#include "ext/answers.hpp"
#include "ext/attached_sets.hpp"
#include "ext/named_object.hpp"

namespace keysieve {
namespace {

struct AskedSeen {
  AttachedSeen* set = nullptr;  // of this thread

  static AttachedTable<AttachedSeen>& table() noexcept { return KEYSIEVE_G(attached_sets)->seen_sets(); }
};
using SeenSetObject = NamedObject<AskedSeen>;

// A method that takes one key: has `ask` answer it.
template <typename Ask>
void answer_one(INTERNAL_FUNCTION_PARAMETERS, Ask ask) {
  zval* key = nullptr;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    KEYSIEVE_PARAM_KEY(key)
  ZEND_PARSE_PARAMETERS_END();

  AskedSeen* asked = SeenSetObject::constructed(ZEND_THIS);
  if (UNEXPECTED(asked == nullptr)) RETURN_THROWS();
  RETURN_BOOL(ask(*asked->set, key));
}

}  // namespace

void prepare_seen_set_class(zend_class_entry* registered) {
  SeenSetObject::prepare(registered);
}

}  // namespace keysieve

using keysieve::AskedSeen;
using keysieve::SeenSetObject;

ZEND_METHOD(KeySieve_SeenSet, __construct) {
  zend_string* name = nullptr;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(name)
  ZEND_PARSE_PARAMETERS_END();

  if (SeenSetObject::construct(ZEND_THIS, name) == nullptr) RETURN_THROWS();
}

ZEND_METHOD(KeySieve_SeenSet, addIfNew) {
  keysieve::answer_one(INTERNAL_FUNCTION_PARAM_PASSTHRU,
                       [](keysieve::AttachedSeen& set, const zval* key) noexcept {
                         if (UNEXPECTED(keysieve::is_out_of_memory()))
                           return false;  // nobody gets this answer
                         return set.add_if_new(key);
                       });
}

ZEND_METHOD(KeySieve_SeenSet, addManyIfNew) {
  zval* iterable = nullptr;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ITERABLE(iterable)
  ZEND_PARSE_PARAMETERS_END();

  AskedSeen* asked = SeenSetObject::constructed(ZEND_THIS);
  if (UNEXPECTED(asked == nullptr)) RETURN_THROWS();
  keysieve::with_answers<bool>(iterable, [&](HashTable* keys, std::span<bool> answers) {
    if (UNEXPECTED(!keysieve::check_keys(keys, 1))) return;
    // All memory is there before the first key is added: if memory_limit ends the script, all keys stay new.
    std::fill(answers.begin(), answers.end(), false);
    if (UNEXPECTED(!keysieve::return_bools(return_value, keys, answers))) return;
    if (UNEXPECTED(keysieve::is_out_of_memory())) return;
    if (UNEXPECTED(!asked->set->add_many_if_new(keys, answers))) {
      zend_array_destroy(Z_ARRVAL_P(return_value));
      RETURN_NULL();
    }
    keysieve::replace_bools(return_value, answers);
  });
}

ZEND_METHOD(KeySieve_SeenSet, mayContain) {
  keysieve::answer_one(
      INTERNAL_FUNCTION_PARAM_PASSTHRU,
      [](keysieve::AttachedSeen& set, const zval* key) noexcept { return set.may_contain(key); });
}

ZEND_METHOD(KeySieve_SeenSet, availability) {
  ZEND_PARSE_PARAMETERS_NONE();

  AskedSeen* asked = SeenSetObject::constructed(ZEND_THIS);
  if (asked == nullptr) RETURN_THROWS();
  RETURN_OBJ_COPY(keysieve::availability_case(asked->set->state()));
}

ZEND_METHOD(KeySieve_SeenSet, info) {
  ZEND_PARSE_PARAMETERS_NONE();

  AskedSeen* asked = SeenSetObject::constructed(ZEND_THIS);
  if (asked == nullptr) RETURN_THROWS();
  if (asked->set->state() != keysieve::SetState::Ready) RETURN_NULL();
  keysieve::make_seen_info(return_value, asked->set->reader());
}
