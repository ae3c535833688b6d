#include "ext/attached_set.hpp"

#include "ext/error_log.hpp"
#include "ext/unavailable_exception.hpp"

namespace keysieve {
namespace {

// Hashes of that many keys are kept on the stack at a time; pages ask for about 20.
constexpr std::size_t kKeysAtATime = 64;

void probe_all(const Attachment& attachment, HashTable* keys, bool* answers) noexcept {
  const std::uint64_t seed = attachment.snapshot().seed();
  std::array<KeyHash, kKeysAtATime> hashes;
  std::size_t hashed = 0;
  zval* key = nullptr;
  ZEND_HASH_FOREACH_VAL(keys, key) {
    hashes[hashed++] = hash_of(key, seed);
    if (hashed == hashes.size()) {
      attachment.may_contain_many(hashes, answers);
      answers += hashed;
      hashed = 0;
    }
  }
  ZEND_HASH_FOREACH_END();
  attachment.may_contain_many(std::span(hashes).first(hashed), answers);
}

}  // namespace

void AttachedSet::may_contain_many(HashTable* keys, const zend_string* key_profile, std::span<bool> answers) {
  ++counts_.calls;
  const SetState state = ask(key_profile, [&](const Attachment& attachment) noexcept {
    probe_all(attachment, keys, answers.data());
  });
  if (state != SetState::Ready) {
    std::fill(answers.begin(), answers.end(), true);
    return give_up(state, key_profile, answers.size());
  }
  const auto maybe = static_cast<std::uint64_t>(std::count(answers.begin(), answers.end(), true));
  counts_.maybe += maybe;
  counts_.absent += answers.size() - maybe;
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
