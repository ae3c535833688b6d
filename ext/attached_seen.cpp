#include "ext/attached_seen.hpp"

#include <algorithm>

#include "ext/exceptions.hpp"

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

}  // namespace

bool AttachedSeen::add_many_if_new(HashTable* keys, std::span<bool> answers) noexcept {
  const std::size_t answered = EXPECTED(is_answering()) ? add_while_ready(keys, answers.data()) : 0;
  if (UNEXPECTED(answered < answers.size())) {
    const auto rest = answers.subspan(answered);
    std::fill(rest.begin(), rest.end(), new_or_throw());
  }
  return EG(exception) == nullptr;
}

// Returns how many keys it has answered.
std::size_t AttachedSeen::add_while_ready(HashTable* keys, bool* answers) noexcept {
  std::size_t answered = 0;
  hash_by_parts(keys, reader_.hasher(), [&](std::span<const KeyHash> hashes) noexcept {
    const std::size_t of_part = reader_.add_many_if_new(hashes, answers + answered);
    answered += of_part;
    return of_part == hashes.size();
  });
  return answered;
}

SetState AttachedSeen::state() noexcept {
  if (is_answering()) return SetState::Ready;
  note_use();
  return KEYSIEVE_G(enabled) ? state_of(reader_.availability()) : SetState::Disabled;
}

// As AttachedSet::look(), whatever keysieve.enabled is.
void AttachedSeen::look() noexcept {
  begin_request();
  reader_.refresh();
  if (KEYSIEVE_G(enabled)) log_change([this] { return line_of_change(); });
}

bool AttachedSeen::new_or_throw() noexcept {
  return maybe_or_throw() && reader_.on_unavailable() != OnUnavailable::Seen;
}

// True, for maybe.
bool AttachedSeen::maybe_or_throw() noexcept {
  note_use();
  if (!KEYSIEVE_G(enabled)) return true;
  log_change([this] { return line_of_change(); });  // of what the reader has met in the middle of a call
  const OnUnavailable answer = reader_.on_unavailable();
  if (answer != OnUnavailable::New && answer != OnUnavailable::Seen)
    throw_unavailable(name(), state_of(reader_.availability()), reason());
  return true;
}

zend_string* AttachedSeen::reason() const {
  return join(
      {"seen set \"", name(), "\" is ", to_string(reader_.availability()), " (", reader_.reason(), ")"});
}

zend_string* AttachedSeen::line_of_change() const {
  if (is_ready()) return join({"keysieve: seen set \"", name(), "\" is ready again"});
  zend_string* reason = this->reason();
  zend_string* line = join({"keysieve: ", view_of(reason), ": ", effect_of(reader_.on_unavailable())});
  zend_string_release(reason);
  return line;
}

}  // namespace keysieve
