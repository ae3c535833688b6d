// A published set that this thread has asked, and what it has answered.
#pragma once

#include <optional>
#include <set>
#include <span>

#include "ext/attached.hpp"
#include "ext/key.hpp"

namespace keysieve {

struct AnswerCounts {
  std::uint64_t calls = 0;        // a batch is one
  std::uint64_t more_keys = 0;    // of batches, than one per call; modulo 2^64, for one may be empty
  std::uint64_t unavailable = 0;  // keys that came back as maybe, or unknown, because the set was not Ready
  std::uint64_t maybe = 0;        // other keys; of a map those with a value, and unknown ones

  [[nodiscard]] std::uint64_t absent() const noexcept { return calls + more_keys - unavailable - maybe; }
};

// How one object asks a set.
struct Terms {
  enum class OnUnavailable : std::uint8_t { AsConfigured, Maybe, Throw };

  const zend_string* key_profile = nullptr;  // any other makes the set Incompatible; nullptr accepts all
  OnUnavailable on_unavailable = OnUnavailable::AsConfigured;
  bool needs_values = false;  // then a set that is no map is Incompatible
};

// Whether the set may hold a key that coerce_key() has accepted. Out of line, so that its caller does not
// have to save the registers that hashing uses.
bool probe(const Attachment& attachment, const zval* key) noexcept;
// Looks up the key in a map.
MapAnswer probe_map(const Attachment& attachment, const zval* key) noexcept;

class AttachedSet : public Attached<SetReader> {
 public:
  using Attached::Attached;

  // Answers one key by `ask(attachment)`. May leave an UnavailableException pending.
  template <typename Ask>
  bool may_contain_by(Ask&& ask, const Terms& terms) noexcept {
    ++counts_.calls;
    const Attachment* attachment = serving(terms.key_profile);
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
  // Looks up all elements of an array, each of which is a key, in their order and by one publication.
  // Returns how many are not absent.
  std::size_t find_many(HashTable* keys, const Terms& terms, std::span<MapAnswer> answers) noexcept;

  SetState state(const Terms& terms) noexcept;
  // Why every answer is maybe, or why one from a folder that was replaced answers; nullptr: neither. As of
  // the last call.
  [[nodiscard]] zend_string* trouble(const Terms& terms) const noexcept;

  [[nodiscard]] const AnswerCounts& counts() const noexcept { return counts_; }

 private:
  // What answers in this call; nullptr unless the set is Ready. Its user must not run PHP code, which
  // could ask the same set and so detach it.
  const Attachment* serving(const zend_string* key_profile) noexcept {
    if (UNEXPECTED(begin_call()) && !look()) return nullptr;
    const Attachment* attachment = reader_.serving();
    if (EXPECTED(key_profile == nullptr)) return attachment;
    return has_profile(attachment, key_profile) ? attachment : nullptr;
  }

  const Attachment* serving_map(const Terms& terms) noexcept {
    const Attachment* attachment = serving(terms.key_profile);
    return EXPECTED(attachment != nullptr) && attachment->snapshot().is_map() ? attachment : nullptr;
  }

  [[gnu::cold]] bool look() noexcept;
  static bool has_profile(const Attachment* attachment, const zend_string* key_profile) noexcept;
  [[nodiscard]] SetState why_not_ready() noexcept;
  [[gnu::cold]] SetState count_unavailable(const Terms& terms, std::uint64_t keys) noexcept;
  [[gnu::cold]] bool give_up(const Terms& terms, std::uint64_t keys) noexcept;
  [[gnu::cold]] MapAnswer find_nothing(const Terms& terms, std::uint64_t keys) noexcept;
  [[nodiscard]] zend_string* line_of_change() const;
  static bool fits(const Attachment& attachment, const Terms& terms) noexcept;
  // How the attached set is not what an object needs, while others may ask it.
  [[nodiscard]] bool is_mismatch(SetState state) const noexcept;
  void log_mismatch(const Terms& terms);
  [[nodiscard]] zend_string* mismatch_text(const Terms& terms) const;
  [[nodiscard]] zend_string* reason_for(SetState state, const Terms& terms) const;

  // Key profiles may come from input. What is past these is not logged.
  static constexpr std::size_t kMostMismatches = 1'024;

  AnswerCounts counts_;
  std::set<std::string> logged_mismatches_;  // at most kMostMismatches
};

}  // namespace keysieve
