#include "ext/attached_set.hpp"

#include "ext/attached_sets.hpp"
#include "ext/exceptions.hpp"

namespace keysieve {
namespace {

// Out of line for the sake of probe(), which needs no stack without it.
[[gnu::noinline, gnu::cold]] bool probe_slowly(const Attachment& attachment, const zval* key) noexcept {
  return attachment.may_contain(hash_of(key, attachment.snapshot().hasher()));
}

[[gnu::noinline, gnu::cold]] MapAnswer probe_map_slowly(const Attachment& attachment,
                                                        const zval* key) noexcept {
  return attachment.find(hash_of(key, attachment.snapshot().hasher()));
}

// False when it has met an element that is no key; then the answers are not complete. Inlined, because a call
// and a second stack guard cost 12 instructions.
[[gnu::always_inline]] inline bool probe_all(const Attachment& attachment, HashTable* keys,
                                             bool* answers) noexcept {
  return hash_by_parts(keys, attachment.snapshot().hasher(), [&](std::span<const KeyHash> hashes) noexcept {
    attachment.may_contain_many(hashes, answers);
    answers += hashes.size();
    return true;
  });
}

// Eight at a time: each is a byte of 0 or 1, and the topmost byte of the product is the sum of all.
std::size_t count_true(std::span<const bool> answers) noexcept {
  std::size_t count = 0;
  std::size_t at = 0;
  for (; at + 8 <= answers.size(); at += 8) {
    count += load<std::uint64_t>(std::as_bytes(answers).data() + at) * 0x0101010101010101 >> 56;
  }
  for (; at < answers.size(); ++at) count += answers[at] ? 1U : 0U;
  return count;
}

}  // namespace

bool probe(const Attachment& attachment, const zval* key) noexcept {
  if (UNEXPECTED(Z_TYPE_P(key) != IS_STRING)) return probe_slowly(attachment, key);
  return attachment.may_contain(attachment.snapshot().hasher()(view_of(Z_STR_P(key))));
}

MapAnswer probe_map(const Attachment& attachment, const zval* key) noexcept {
  if (UNEXPECTED(Z_TYPE_P(key) != IS_STRING)) return probe_map_slowly(attachment, key);
  return attachment.find(attachment.snapshot().hasher()(view_of(Z_STR_P(key))));
}

std::optional<std::size_t> AttachedSet::may_contain_many(HashTable* keys, const Terms& terms,
                                                         std::span<bool> answers) {
  const Attachment* attachment = serving(terms.key_profile);
  const bool has_answers = attachment != nullptr && probe_all(*attachment, keys, answers.data());
  if (UNEXPECTED(!has_answers && !check_keys(keys, 1))) return {};
  ++counts_.calls;
  counts_.more_keys += answers.size() - 1;
  if (UNEXPECTED(attachment == nullptr)) {
    std::fill(answers.begin(), answers.end(), true);
    give_up(terms, answers.size());
    if (EG(exception) != nullptr) return {};
    return answers.size();
  }
  const std::size_t maybe = count_true(answers);
  counts_.maybe += maybe;
  return maybe;
}

std::size_t AttachedSet::find_many(HashTable* keys, const Terms& terms,
                                   std::span<MapAnswer> answers) noexcept {
  ++counts_.calls;
  counts_.more_keys += answers.size() - 1;
  const Attachment* attachment = serving_map(terms);
  if (UNEXPECTED(attachment == nullptr)) {
    std::fill(answers.begin(), answers.end(), find_nothing(terms, answers.size()));
    return answers.size();
  }
  MapAnswer* next = answers.data();
  hash_by_parts(keys, attachment->snapshot().hasher(), [&](std::span<const KeyHash> hashes) noexcept {
    attachment->find_many(hashes, next);
    next += hashes.size();
    return true;
  });
  std::size_t maybe = 0;
  for (const MapAnswer answer : answers) maybe += answer == kAbsent ? 0U : 1U;
  counts_.maybe += maybe;
  return maybe;
}

bool AttachedSet::fits(const Attachment& attachment, const Terms& terms) noexcept {
  return !terms.needs_values || attachment.snapshot().is_map();
}

SetState AttachedSet::state(const Terms& terms) noexcept {
  const Attachment* attachment = serving(terms.key_profile);
  return attachment != nullptr && fits(*attachment, terms) ? SetState::Ready : why_not_ready();
}

// Looks at the clock and the files in the first call of a request, then whenever something may have changed.
// False while keysieve.enabled is off, which no request changes. Logs at once, so that calls in between need
// not look whether anything has changed, and a process that serves one request for ever says it too.
bool AttachedSet::look() noexcept {
  if (!KEYSIEVE_G(enabled)) return false;
  begin_request();
  if (!reader_.refresh()) return true;
  KEYSIEVE_G(attached_sets)->note_replaced(reader_.has_replaced());
  log_change([this] { return line_of_change(); });
  return true;
}

// Out of line: most sets are asked without a profile.
bool AttachedSet::has_profile(const Attachment* attachment, const zend_string* key_profile) noexcept {
  return attachment != nullptr && view_of(key_profile) == attachment->snapshot().key_profile();
}

SetState AttachedSet::why_not_ready() noexcept {
  note_use();
  if (!KEYSIEVE_G(enabled)) return SetState::Disabled;
  return is_ready() ? SetState::Incompatible : state_of(reader_.availability());
}

SetState AttachedSet::count_unavailable(const Terms& terms, std::uint64_t keys) noexcept {
  const SetState state = why_not_ready();
  counts_.unavailable += keys;
  if (is_mismatch(state)) log_mismatch(terms);
  return state;
}

// True, for maybe: a constant that the caller could see would make it branch on every other answer too.
bool AttachedSet::give_up(const Terms& terms, std::uint64_t keys) noexcept {
  const SetState state = count_unavailable(terms, keys);
  const bool throws = terms.on_unavailable == Terms::OnUnavailable::AsConfigured
                          ? KEYSIEVE_G(throw_when_unavailable)
                          : terms.on_unavailable == Terms::OnUnavailable::Throw;
  if (throws && !is_switched_off(state)) throw_unavailable(name(), state, reason_for(state, terms));
  return true;
}

// Its caller says what to do with an unknown key, so nothing is thrown.
MapAnswer AttachedSet::find_nothing(const Terms& terms, std::uint64_t keys) noexcept {
  count_unavailable(terms, keys);
  return kUnknown;
}

bool AttachedSet::is_mismatch(SetState state) const noexcept {
  return state == SetState::Incompatible && is_ready();
}

zend_string* AttachedSet::reason_for(SetState state, const Terms& terms) const {
  if (!is_mismatch(state))
    return join({"set \"", name(), "\" is ", to_string(reader_.availability()), " (", reader_.reason(), ")"});
  zend_string* mismatch = mismatch_text(terms);
  zend_string* reason = join({"set \"", name(), "\" was ", view_of(mismatch)});
  zend_string_release(mismatch);
  return reason;
}

// A profile that is longer than this is none that a set can have.
zend_string* AttachedSet::mismatch_text(const Terms& terms) const {
  constexpr std::size_t kMostBytes = 80;
  if (terms.key_profile == nullptr || has_profile(reader_.attachment(), terms.key_profile))
    return join({"built without values"});
  return join({"built with key profile \"", reader_.attachment()->snapshot().key_profile(), "\", not \"",
               view_of(terms.key_profile).substr(0, kMostBytes), "\""});
}

zend_string* AttachedSet::trouble(const Terms& terms) const noexcept {
  const Attachment* attachment = reader_.attachment();
  const bool has_mismatch =
      is_ready() && ((terms.key_profile != nullptr && !has_profile(attachment, terms.key_profile)) ||
                     !fits(*attachment, terms));
  if (has_mismatch) return mismatch_text(terms);
  return reader_.reason().empty() ? nullptr : join({reader_.reason()});
}

zend_string* AttachedSet::line_of_change() const {
  if (!is_ready()) {
    zend_string* reason = reason_for(state_of(reader_.availability()), {});
    zend_string* line = join({"keysieve: ", view_of(reason), ": every lookup answers maybe"});
    zend_string_release(reason);
    return line;
  }
  if (!reader_.reason().empty())
    return join({"keysieve: set \"", name(), "\" keeps its old publication: ", reader_.reason()});
  return join({"keysieve: set \"", name(), "\" is ", was_ready() ? "up to date" : "ready", " again"});
}

void AttachedSet::log_mismatch(const Terms& terms) {
  zend_string* reason = reason_for(SetState::Incompatible, terms);
  if (logged_mismatches_.size() < kMostMismatches && logged_mismatches_.emplace(view_of(reason)).second) {
    write_error_log(join({"keysieve: ", view_of(reason), ": every such lookup ",
                          terms.needs_values ? "is unknown" : "answers maybe"}));
  }
  zend_string_release(reason);
}

}  // namespace keysieve
