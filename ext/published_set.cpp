#include "ext/published_set.hpp"

namespace keysieve {
namespace {

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

std::optional<std::size_t> PublishedSet::may_contain_many(HashTable* keys, const Terms& terms,
                                                          std::span<bool> answers) {
  const Attachment* attachment = serving(terms);
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

std::optional<std::size_t> PublishedSet::find_many(HashTable* keys, const Terms& terms,
                                                   std::span<MapAnswer> answers) {
  const Attachment* attachment = serving_map(terms);
  if (UNEXPECTED(!check_keys(keys, 1))) return {};
  ++counts_.calls;
  counts_.more_keys += answers.size() - 1;
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

SetState PublishedSet::state(const Terms& terms) noexcept {
  const Attachment* attachment = serving({});
  return attachment != nullptr && fits(*attachment, terms) ? SetState::Ready : why_not_ready();
}

// Looks at the clock and the files in the first call of a request, then whenever something may have changed.
// Not while keysieve.enabled is off, which no request changes. Logs at once, so that calls in between need
// not look whether anything has changed, and a process that serves one request for ever says it too.
const Attachment* PublishedSet::look() noexcept {
  if (!KEYSIEVE_G(enabled)) return nullptr;
  note_request();
  if (reader_.refresh()) {
    KEYSIEVE_G(tables)->has_replaced |= reader_.has_replaced();
    log_change([this] { return line_of_change(); });
  }
  return reader_.serving();
}

// Returns `attachment`, or nullptr. Out of line: most sets are asked without a profile.
const Attachment* PublishedSet::if_built_with(const zend_string* key_profile,
                                              const Attachment* attachment) noexcept {
  if (key_profile == nullptr || attachment == nullptr) return attachment;
  return view_of(key_profile) == attachment->snapshot().key_profile() ? attachment : nullptr;
}

bool PublishedSet::fits(const Attachment& attachment, const Terms& terms) noexcept {
  return if_built_with(terms.key_profile, &attachment) != nullptr &&
         (!terms.needs_values || attachment.snapshot().is_map());
}

// A set that is ready, but does not fit the terms of this object, is Incompatible for it alone.
SetState PublishedSet::why_not_ready() noexcept {
  note_use();
  if (!KEYSIEVE_G(enabled)) return SetState::Disabled;
  return is_ready() ? SetState::Incompatible : state_of(reader_.availability());
}

// What follows builds texts, logs and throws, where PHP may end the script: nothing there has a destructor.

// True, for maybe: a constant that the caller could see would make it branch on every other answer too.
bool PublishedSet::give_up(const Terms& terms, std::uint64_t keys) noexcept {
  const SetState state = why_not_ready();
  counts_.unavailable += keys;
  if (is_switched_off(state)) return true;
  if (is_ready()) log_mismatch(terms);
  const bool throws = terms.on_unavailable == Terms::OnUnavailable::AsConfigured
                          ? KEYSIEVE_G(throw_when_unavailable)
                          : terms.on_unavailable == Terms::OnUnavailable::Throw;
  if (throws) throw_unavailable(name(), state, reason_for(terms));
  return true;
}

// The terms of a map throw nothing: its caller says what to do with an unknown key.
MapAnswer PublishedSet::find_nothing(const Terms& terms, std::uint64_t keys) noexcept {
  give_up(terms, keys);
  return kUnknown;
}

zend_string* PublishedSet::reason_for(const Terms& terms) const {
  if (!is_ready())
    return join({"set \"", name(), "\" is ", to_string(reader_.availability()), " (", reader_.reason(), ")"});
  zend_string* mismatch = mismatch_text(terms);
  zend_string* reason = join({"set \"", name(), "\" was ", view_of(mismatch)});
  zend_string_release(mismatch);
  return reason;
}

// A profile that is longer than this is none that a set can have.
zend_string* PublishedSet::mismatch_text(const Terms& terms) const {
  constexpr std::size_t kMostBytes = 80;
  if (fits(*reader_.attachment(), {.key_profile = terms.key_profile})) return join({"built without values"});
  return join({"built with key profile \"", reader_.attachment()->snapshot().key_profile(), "\", not \"",
               view_of(terms.key_profile).substr(0, kMostBytes), "\""});
}

zend_string* PublishedSet::trouble(const Terms& terms) const noexcept {
  if (is_ready() && !fits(*reader_.attachment(), terms)) return mismatch_text(terms);
  return reader_.reason().empty() ? nullptr : join({reader_.reason()});
}

zend_string* PublishedSet::line_of_change() const {
  if (!is_ready()) {
    zend_string* reason = reason_for({});
    zend_string* line = join({"keysieve: ", view_of(reason), ": every lookup answers maybe"});
    zend_string_release(reason);
    return line;
  }
  if (!reader_.reason().empty())
    return join({"keysieve: set \"", name(), "\" keeps its old publication: ", reader_.reason()});
  return join({"keysieve: set \"", name(), "\" is ", was_ready() ? "up to date" : "ready", " again"});
}

void PublishedSet::log_mismatch(const Terms& terms) {
  zend_string* reason = reason_for(terms);
  if (logged_mismatches_.size() < kMostMismatches && logged_mismatches_.emplace(view_of(reason)).second) {
    write_error_log(join({"keysieve: ", view_of(reason), ": every such lookup ",
                          terms.needs_values ? "is unknown" : "answers maybe"}));
  }
  zend_string_release(reason);
}

}  // namespace keysieve
