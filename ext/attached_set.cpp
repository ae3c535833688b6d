#include "ext/attached_set.hpp"

#include "ext/error_log.hpp"
#include "ext/unavailable_exception.hpp"

namespace keysieve {
namespace {

// Hashes of that many keys are kept on the stack at a time; pages ask for about 20.
constexpr std::size_t kKeysAtATime = 64;

// False when it has met an element that is no key; then the answers are not complete.
bool probe_all(const Attachment& attachment, HashTable* keys, bool* answers) noexcept {
  const KeyHasher hasher = attachment.snapshot().hasher();
  std::array<KeyHash, kKeysAtATime> hashes;
  auto next = hashes.begin();
  zval* key = nullptr;
  ZEND_HASH_FOREACH_VAL(keys, key) {
    if (UNEXPECTED(!hash_if_key(key, hasher, *next))) return false;
    if (UNEXPECTED(++next == hashes.end())) {
      attachment.may_contain_many(hashes, answers);
      answers += hashes.size();
      next = hashes.begin();
    }
  }
  ZEND_HASH_FOREACH_END();
  attachment.may_contain_many({hashes.begin(), next}, answers);
  return true;
}

// Eight at a time: each is a byte of 0 or 1, and the topmost byte of the product is the sum of all.
std::size_t count_true(std::span<const bool> answers) noexcept {
  std::size_t count = 0;
  for (; answers.size() >= 8; answers = answers.subspan(8)) {
    count += load<std::uint64_t>(std::as_bytes(answers).data()) * 0x0101010101010101 >> 56;
  }
  for (const bool answer : answers) count += answer ? 1 : 0;
  return count;
}

}  // namespace

std::optional<std::size_t> AttachedSet::may_contain_many(HashTable* keys, const zend_string* key_profile,
                                                         std::span<bool> answers) {
  bool all_are_keys = true;
  const SetState state = ask(key_profile, [&](const Attachment& attachment) noexcept {
    all_are_keys = probe_all(attachment, keys, answers.data());
  });
  if (UNEXPECTED(state != SetState::Ready || !all_are_keys) && !check_keys(keys, 1)) return {};
  ++counts_.calls;
  if (UNEXPECTED(state != SetState::Ready)) {
    std::fill(answers.begin(), answers.end(), true);
    give_up(state, key_profile, answers.size());
    if (EG(exception) != nullptr) return {};
    return answers.size();
  }
  const std::size_t maybe = count_true(answers);
  counts_.maybe += maybe;
  counts_.absent += answers.size() - maybe;
  return maybe;
}

SetState AttachedSet::state(const zend_string* key_profile) {
  return ask(key_profile, [](const Attachment&) noexcept {});
}

void AttachedSet::give_up(SetState state, const zend_string* key_profile, std::uint64_t keys) noexcept {
  counts_.unavailable += keys;
  if (is_other_profile(state)) log_other_profile(key_profile);
  if (KEYSIEVE_G(throw_when_unavailable) && !is_switched_off(state)) {
    throw_unavailable(reason_for(state, key_profile));
  }
}

bool AttachedSet::is_other_profile(SetState state) const noexcept {
  return state == SetState::Incompatible && reader_.availability() == Availability::Ready;
}

std::string AttachedSet::reason_for(SetState state, const zend_string* key_profile) const {
  const std::string set = "set \"" + reader_.set_name() + "\" ";
  if (is_other_profile(state)) {
    return set + "was built with key profile \"" +
           std::string(reader_.attachment()->snapshot().key_profile()) + "\", not \"" +
           std::string(view_of(key_profile)) + "\"";
  }
  return set + "is " + std::string(to_string(reader_.availability())) + " (" + reader_.reason() + ")";
}

void AttachedSet::log_change() noexcept {
  logged_availability_ = reader_.availability();
  if (logged_availability_ == Availability::Ready) {
    return write_error_log("keysieve: set \"" + reader_.set_name() + "\" is ready again");
  }
  write_error_log("keysieve: " + reason_for(state_of(logged_availability_), nullptr) +
                  ": every lookup answers maybe");
}

void AttachedSet::log_other_profile(const zend_string* key_profile) {
  if (!logged_profiles_.emplace(view_of(key_profile)).second) return;
  write_error_log("keysieve: " + reason_for(SetState::Incompatible, key_profile) +
                  ": every such lookup answers maybe");
}

void AttachedSet::report_refusal() noexcept {
  if (reader_.availability() != Availability::Ready) return;
  const std::string refusal = reader_.reason();
  if (refusal == logged_refusal_) return;
  logged_refusal_ = refusal;
  if (refusal.empty()) return;
  write_error_log("keysieve: set \"" + reader_.set_name() + "\" keeps its old publication: " + refusal);
}

}  // namespace keysieve
