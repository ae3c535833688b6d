// A published set or map that this thread has asked, what it has answered, and what it says while it is not
// ready.
#pragma once

#include <optional>
#include <set>
#include <span>

#include "ext/key.hpp"
#include "ext/set_table.hpp"

namespace keysieve {

struct AnswerCounts {
  std::uint64_t calls = 0;        // a batch is one
  std::uint64_t more_keys = 0;    // of batches, than one per call; modulo 2^64, for one may be empty
  std::uint64_t unavailable = 0;  // keys that came back as maybe, or unknown, because the set was not Ready
  std::uint64_t maybe = 0;        // other keys; of a map those with a value, and unknown ones

  [[nodiscard]] std::uint64_t absent() const noexcept { return calls + more_keys - unavailable - maybe; }
};

// Whether the set may hold a key that coerce_key() has accepted. Out of line, so that its caller does not
// have to save the registers that hashing uses; an int apart, so that a string is hashed without a stack.
[[gnu::noinline, gnu::cold]] inline bool probe_int(const Attachment& attachment, zend_long key) noexcept {
  return attachment.may_contain(hash_of_int(key, attachment.snapshot().hasher()));
}
[[gnu::noinline]] inline bool probe(const Attachment& attachment, const zval* key) noexcept {
  if (UNEXPECTED(Z_TYPE_P(key) != IS_STRING)) return probe_int(attachment, Z_LVAL_P(key));
  return attachment.may_contain(attachment.snapshot().hasher()(view_of(Z_STR_P(key))));
}
// The same two for a key of a map.
[[gnu::noinline, gnu::cold]] inline MapAnswer probe_map_int(const Attachment& attachment,
                                                            zend_long key) noexcept {
  return attachment.find(hash_of_int(key, attachment.snapshot().hasher()));
}
[[gnu::noinline]] inline MapAnswer probe_map(const Attachment& attachment, const zval* key) noexcept {
  if (UNEXPECTED(Z_TYPE_P(key) != IS_STRING)) return probe_map_int(attachment, Z_LVAL_P(key));
  return attachment.find(attachment.snapshot().hasher()(view_of(Z_STR_P(key))));
}

class PublishedSet : public NamedSet<SetReader> {
 public:
  using NamedSet::NamedSet;
  static SetTable<PublishedSet>& table() noexcept { return KEYSIEVE_G(tables)->published; }

  // How one object asks it.
  struct Terms {
    enum class OnUnavailable : std::uint8_t { AsConfigured, Maybe, Throw };

    const zend_string* key_profile = nullptr;  // any other makes the set Incompatible; nullptr accepts all
    OnUnavailable on_unavailable = OnUnavailable::AsConfigured;
    bool needs_values = false;  // then a set that is no map is Incompatible
  };

  // Answers one key by `ask(attachment)`. May leave an UnavailableException pending.
  template <typename Ask>
  bool may_contain_by(Ask&& ask, const Terms& terms) noexcept {
    ++counts_.calls;
    const Attachment* attachment = serving(terms);
    if (UNEXPECTED(attachment == nullptr)) return give_up(terms, 1);
    // Counted without a branch, which would be mispredicted half of the time.
    const bool maybe = ask(*attachment);
    counts_.maybe += static_cast<std::uint64_t>(maybe);
    return maybe;
  }
  bool may_contain(const zval* key, const Terms& terms) noexcept {
    return may_contain_by([key](const Attachment& attachment) noexcept { return probe(attachment, key); },
                          terms);
  }

  // Begins to load what a lookup of the key will read, if the set was asked before. Answers nothing.
  template <typename HashBy>
  void prefetch(HashBy&& hash_by) const noexcept {
    const Attachment* attachment = reader_.attachment();
    if (attachment == nullptr) return;
    attachment->snapshot().prefetch(hash_by(attachment->snapshot().hasher()));
  }

  // Answers all elements of an argument, in their order and by one publication. Returns the number of maybes,
  // or nothing if an exception is pending (from check_keys(), or an UnavailableException).
  std::optional<std::size_t> may_contain_many(HashTable* keys, const Terms& terms, std::span<bool> answers);

  // What a map says of one key; kUnknown while it is not Ready, or is no map.
  MapAnswer find(const zval* key, const Terms& terms) noexcept {
    ++counts_.calls;
    const Attachment* attachment = serving_map(terms);
    if (UNEXPECTED(attachment == nullptr)) return find_nothing(terms, 1);
    const MapAnswer answer = probe_map(*attachment, key);
    counts_.maybe += answer == kAbsent ? 0U : 1U;
    return answer;
  }
  // Looks up all elements of an argument, in their order and by one publication. Returns how many are not
  // absent, or nothing if an exception is pending (from check_keys()).
  std::optional<std::size_t> find_many(HashTable* keys, const Terms& terms, std::span<MapAnswer> answers);

  SetState state(const Terms& terms) noexcept;
  // Why every answer is maybe, or why one from a folder that was replaced answers; nullptr: neither. As of
  // the last call.
  [[nodiscard]] zend_string* trouble(const Terms& terms) const noexcept;

  [[nodiscard]] const AnswerCounts& counts() const noexcept { return counts_; }

 private:
  // What answers in this call; nullptr unless the set is Ready. Its user must not run PHP code, which
  // could ask the same set and so detach it.
  const Attachment* serving(const Terms& terms) noexcept {
    const Attachment* attachment = UNEXPECTED(begin_call()) ? look() : reader_.serving();
    return EXPECTED(terms.key_profile == nullptr) ? attachment : if_built_with(terms.key_profile, attachment);
  }

  const Attachment* serving_map(const Terms& terms) noexcept {
    const Attachment* attachment = serving(terms);
    return EXPECTED(attachment != nullptr) && attachment->snapshot().is_map() ? attachment : nullptr;
  }

  [[gnu::cold]] const Attachment* look() noexcept;
  static const Attachment* if_built_with(const zend_string* key_profile,
                                         const Attachment* attachment) noexcept;
  static bool fits(const Attachment& attachment, const Terms& terms) noexcept;
  [[nodiscard]] SetState why_not_ready() noexcept;
  [[gnu::cold]] bool give_up(const Terms& terms, std::uint64_t keys) noexcept;
  [[gnu::cold]] MapAnswer find_nothing(const Terms& terms, std::uint64_t keys) noexcept;
  [[nodiscard]] zend_string* line_of_change() const;
  void log_mismatch(const Terms& terms);
  [[nodiscard]] zend_string* mismatch_text(const Terms& terms) const;
  [[nodiscard]] zend_string* reason_for(const Terms& terms) const;

  // Key profiles may come from input. What is past these is not logged.
  static constexpr std::size_t kMostMismatches = 1'024;

  AnswerCounts counts_;
  std::set<std::string> logged_mismatches_;  // at most kMostMismatches
};

}  // namespace keysieve
