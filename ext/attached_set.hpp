// A set that this thread has asked: its reader, what it has answered, and what of it was logged. Lives as
// long as the thread, so that objects and requests come and go without mapping anything anew.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "ext/availability.hpp"
#include "ext/key_argument.hpp"
#include "ext/php_keysieve.h"

namespace keysieve {

struct AnswerCounts {
  std::uint64_t calls = 0;        // a batch is one
  std::uint64_t maybe = 0;        // keys
  std::uint64_t absent = 0;       // keys
  std::uint64_t unavailable = 0;  // keys answered maybe because the set was not Ready
};

class AttachedSet {
 public:
  AttachedSet(const ReaderSettings& settings, std::string_view name) : reader_(settings, name) {}

  // Answers one key, whose hash `hash_by(hasher)` gives. Any `key_profile` but that of the snapshot makes the
  // set Incompatible; nullptr is content with all. May leave an UnavailableException pending.
  template <typename HashBy>
  bool may_contain(HashBy&& hash_by, const zend_string* key_profile) {
    ++counts_.calls;
    bool maybe = true;
    const SetState state = ask(key_profile, [&](const Attachment& attachment) noexcept {
      maybe = attachment.may_contain(hash_by(attachment.snapshot().hasher()));
    });
    if (UNEXPECTED(state != SetState::Ready)) {
      give_up(state, key_profile, 1);
      return true;
    }
    ++(maybe ? counts_.maybe : counts_.absent);
    return maybe;
  }

  // Answers all elements of an argument, in their order and by one publication. How many are maybe; nothing
  // when an exception is pending, a TypeError of check_keys() or an UnavailableException.
  std::optional<std::size_t> may_contain_many(HashTable* keys, const zend_string* key_profile,
                                              std::span<bool> answers);

  SetState state(const zend_string* key_profile);

  // For the end of a request: says when a new publication was refused and the old one goes on serving.
  void report_refusal() noexcept;

  [[nodiscard]] SetReader& reader() noexcept { return reader_; }
  [[nodiscard]] const SetReader& reader() const noexcept { return reader_; }
  [[nodiscard]] const AnswerCounts& counts() const noexcept { return counts_; }

 private:
  // Calls `probe` with the attachment when the set is Ready. While that runs the publication is pinned, so it
  // must not run PHP code and must not allocate by PHP's allocator, which may leave by longjmp.
  template <typename Probe>
  SetState ask(const zend_string* key_profile, Probe&& probe) {
    if (UNEXPECTED(!KEYSIEVE_G(enabled))) return SetState::Disabled;
    SetState state = SetState::Ready;
    {
      const SetReader::Pin pin = reader_.pin();
      if (UNEXPECTED(!pin)) {
        state = state_of(reader_.availability());
      } else if (UNEXPECTED(key_profile != nullptr &&
                            view_of(key_profile) != pin->snapshot().key_profile())) {
        state = SetState::Incompatible;
      } else {
        probe(*pin);
      }
    }
    if (UNEXPECTED(reader_.availability() != logged_availability_)) log_change();
    return state;
  }

  // What follows is noexcept because no C++ exception may cross into PHP: where memory runs out, the process
  // ends, as PHP's own persistent allocations end it.
  void give_up(SetState state, const zend_string* key_profile, std::uint64_t keys) noexcept;
  void log_change() noexcept;
  void log_other_profile(const zend_string* key_profile);
  [[nodiscard]] bool is_other_profile(SetState state) const noexcept;
  [[nodiscard]] std::string reason_for(SetState state, const zend_string* key_profile) const;

  SetReader reader_;
  AnswerCounts counts_;
  Availability logged_availability_ = Availability::Ready;
  std::string logged_refusal_;
  std::set<std::string> logged_profiles_;
};

}  // namespace keysieve
