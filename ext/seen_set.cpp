#include "ext/seen_set.hpp"

#include <algorithm>

#include "ext/answers.hpp"
#include "ext/classes.hpp"
#include "ext/set_object.hpp"

namespace keysieve {
namespace {

const char* effect_of(OnUnavailable answer) noexcept {
  switch (answer) {
    case OnUnavailable::New:
      return "every key is new";
    case OnUnavailable::Seen:
      return "every key is seen";
    default:
      return "every call throws";
  }
}

// A method that takes one key: has `ask` answer it.
template <typename Ask>
void answer_one(INTERNAL_FUNCTION_PARAMETERS, Ask ask) {
  zval* key = nullptr;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    KEYSIEVE_PARAM_KEY(key)
  ZEND_PARSE_PARAMETERS_END();

  auto* asked = SetObject<SeenSet>::constructed(ZEND_THIS);
  if (UNEXPECTED(asked == nullptr)) RETURN_THROWS();
  RETURN_BOOL(ask(*asked->set, key));
}

}  // namespace

bool SeenSet::add_many_if_new(HashTable* keys, std::span<bool> answers) noexcept {
  const std::size_t answered = EXPECTED(is_answering()) ? add_while_ready(keys, answers.data()) : 0;
  if (UNEXPECTED(answered < answers.size())) {
    const auto rest = answers.subspan(answered);
    std::fill(rest.begin(), rest.end(), new_or_throw());
  }
  return EG(exception) == nullptr;
}

// Returns how many keys it has answered.
std::size_t SeenSet::add_while_ready(HashTable* keys, bool* answers) noexcept {
  std::size_t answered = 0;
  hash_by_parts(keys, reader_.hasher(), [&](std::span<const KeyHash> hashes) noexcept {
    const std::size_t of_part = reader_.add_many_if_new(hashes, answers + answered);
    answered += of_part;
    return of_part == hashes.size();
  });
  return answered;
}

SetState SeenSet::state() noexcept {
  if (is_answering()) return SetState::Ready;
  note_use();
  return KEYSIEVE_G(enabled) ? state_of(reader_.availability()) : SetState::Disabled;
}

// As PublishedSet::look(), whatever keysieve.enabled is.
void SeenSet::look() noexcept {
  note_request();
  reader_.refresh();
  if (KEYSIEVE_G(enabled)) log_change([this] { return line_of_change(); });
}

bool SeenSet::new_or_throw() noexcept {
  return maybe_or_throw() && reader_.on_unavailable() != OnUnavailable::Seen;
}

// True, for maybe.
bool SeenSet::maybe_or_throw() noexcept {
  note_use();
  if (!KEYSIEVE_G(enabled)) return true;
  log_change([this] { return line_of_change(); });  // of what the reader has met in the middle of a call
  const OnUnavailable answer = reader_.on_unavailable();
  if (answer != OnUnavailable::New && answer != OnUnavailable::Seen)
    throw_unavailable(name(), state_of(reader_.availability()), reason());
  return true;
}

zend_string* SeenSet::reason() const {
  return join(
      {"seen set \"", name(), "\" is ", to_string(reader_.availability()), " (", reader_.reason(), ")"});
}

zend_string* SeenSet::line_of_change() const {
  if (is_ready()) return join({"keysieve: seen set \"", name(), "\" is ready again"});
  zend_string* reason = this->reason();
  zend_string* line = join({"keysieve: ", view_of(reason), ": ", effect_of(reader_.on_unavailable())});
  zend_string_release(reason);
  return line;
}

}  // namespace keysieve

using keysieve::SeenSet;
using keysieve::SetObject;

ZEND_METHOD(KeySieve_SeenSet, __construct) {
  zend_string* name = nullptr;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(name)
  ZEND_PARSE_PARAMETERS_END();

  if (SetObject<SeenSet>::construct(ZEND_THIS, name) == nullptr) RETURN_THROWS();
}

ZEND_METHOD(KeySieve_SeenSet, addIfNew) {
  keysieve::answer_one(INTERNAL_FUNCTION_PARAM_PASSTHRU, [](SeenSet& set, const zval* key) noexcept {
    if (UNEXPECTED(keysieve::is_out_of_memory())) return false;  // nobody gets this answer
    return set.add_if_new(key);
  });
}

ZEND_METHOD(KeySieve_SeenSet, addManyIfNew) {
  zval* iterable = nullptr;
  ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ITERABLE(iterable)
  ZEND_PARSE_PARAMETERS_END();

  auto* asked = SetObject<SeenSet>::constructed(ZEND_THIS);
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
  keysieve::answer_one(INTERNAL_FUNCTION_PARAM_PASSTHRU,
                       [](SeenSet& set, const zval* key) noexcept { return set.may_contain(key); });
}

ZEND_METHOD(KeySieve_SeenSet, availability) {
  ZEND_PARSE_PARAMETERS_NONE();

  auto* asked = SetObject<SeenSet>::constructed(ZEND_THIS);
  if (asked == nullptr) RETURN_THROWS();
  RETURN_OBJ_COPY(keysieve::availability_case(asked->set->state()));
}

ZEND_METHOD(KeySieve_SeenSet, info) {
  ZEND_PARSE_PARAMETERS_NONE();

  auto* asked = SetObject<SeenSet>::constructed(ZEND_THIS);
  if (asked == nullptr) RETURN_THROWS();
  if (asked->set->state() != keysieve::SetState::Ready) RETURN_NULL();
  keysieve::make_seen_info(return_value, asked->set->reader());
}
