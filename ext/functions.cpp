// The functions of the namespace KeySieve.
#include "ext/memory_limit.hpp"
#include "ext/published_set.hpp"

namespace keysieve {
namespace {

// Hashes one key for several sets: once per seed. Sets of one store share a seed, so more than a few of them
// is rare, and then a hash is made again.
class HashPerSeed {
 public:
  explicit HashPerSeed(const zval* key) noexcept : key_(key) {}

  KeyHash operator()(const KeyHasher& hasher) noexcept {
    const auto end = seeds_.begin() + known_;
    if (const auto found = std::find(seeds_.begin(), end, hasher.seed()); found != end) {
      return hashes_[static_cast<std::size_t>(found - seeds_.begin())];
    }
    const KeyHash hash = hash_of(key_, hasher);
    if (known_ < seeds_.size()) {
      seeds_[known_] = hasher.seed();
      hashes_[known_++] = hash;
    }
    return hash;
  }

 private:
  const zval* key_;
  std::array<HashSeed, 8> seeds_;
  std::array<KeyHash, 8> hashes_;
  std::size_t known_ = 0;
};

// The sets that one call asks at a time: their lines, of the kinds that read few, fit any first-level cache.
constexpr std::size_t kSetsAtATime = 32;

// nullptr, with an error pending that says which, for an element that is not a set name.
PublishedSet* set_named(const zval* name) {
  if (Z_TYPE_P(name) != IS_STRING) {
    zend_argument_type_error(1, "must be an array of strings, %s given", zend_zval_type_name(name));
    return nullptr;
  }
  PublishedSet* set = PublishedSet::table().find(Z_STR_P(name));
  if (set == nullptr) {
    zend_argument_error(invalid_name_exception_class, 1,
                        "must be an array of set names, each %s, \"%.80s\" given", kSetNameRule,
                        Z_STRVAL_P(name));
  }
  return set;
}

struct Candidate {
  PublishedSet* set;
  zval* name;
};

// Finds all of them. False with an error pending.
bool find_sets(HashTable* names, Candidate* sets) {
  zval* name = nullptr;
  ZEND_HASH_FOREACH_VAL(names, name) {
    ZVAL_DEREF(name);
    *sets = {set_named(name), name};
    if (sets++->set == nullptr) return false;
  }
  ZEND_HASH_FOREACH_END();
  return true;
}

// Adds the names of those that may contain the key. False with an UnavailableException pending.
bool add_candidates(std::span<const Candidate> sets, HashPerSeed& hash_per_seed, HashTable* candidates) {
  for (const Candidate& one : sets) one.set->prefetch(hash_per_seed);
  for (const Candidate& one : sets) {
    const bool maybe = one.set->may_contain_by(
        [&hash_per_seed](const Attachment& attachment) noexcept {
          return attachment.may_contain(hash_per_seed(attachment.snapshot().hasher()));
        },
        {});
    if (UNEXPECTED(EG(exception) != nullptr)) return false;
    if (!maybe) continue;
    Z_TRY_ADDREF_P(one.name);
    zend_hash_next_index_insert_new(candidates, one.name);
  }
  return true;
}

void add_counts(zval* result, const PublishedSet& set) {
  const AnswerCounts& counts = set.counts();
  zval row;
  array_init_size(&row, 4);
  add_assoc_long(&row, "calls", static_cast<zend_long>(counts.calls));
  add_assoc_long(&row, "maybe", static_cast<zend_long>(counts.maybe));
  add_assoc_long(&row, "absent", static_cast<zend_long>(counts.absent()));
  add_assoc_long(&row, "unavailable", static_cast<zend_long>(counts.unavailable));
  add_assoc_zval_ex(result, set.name().data(), set.name().size(), &row);
}

}  // namespace
}  // namespace keysieve

using keysieve::PublishedSet;

ZEND_FUNCTION(KeySieve_may_contain) {
  zend_string* name = nullptr;
  zval* key = nullptr;
  ZEND_PARSE_PARAMETERS_START(2, 2)
    Z_PARAM_STR(name)
    KEYSIEVE_PARAM_KEY(key)
  ZEND_PARSE_PARAMETERS_END();

  PublishedSet* set = PublishedSet::table().ask(name);
  if (UNEXPECTED(set == nullptr)) RETURN_THROWS();
  RETURN_BOOL(set->may_contain(key, {}));
}

ZEND_FUNCTION(KeySieve_candidate_sets) {
  zval* key = nullptr;
  HashTable* names = nullptr;
  ZEND_PARSE_PARAMETERS_START(2, 2)
    Z_PARAM_ARRAY_HT(names)
    KEYSIEVE_PARAM_KEY(key)
  ZEND_PARSE_PARAMETERS_END();

  const std::size_t count = zend_hash_num_elements(names);
  if (UNEXPECTED(!keysieve::has_room((count + 1) * sizeof(keysieve::Candidate)))) return;
  PublishedSet::table().make_room();
  ALLOCA_FLAG(use_heap)
  auto* sets =
      static_cast<keysieve::Candidate*>(do_alloca((count + 1) * sizeof(keysieve::Candidate), use_heap));
  if (keysieve::find_sets(names, sets) && keysieve::make_array(return_value, count, /*is_packed=*/true)) {
    keysieve::HashPerSeed hash_per_seed(key);
    for (std::size_t done = 0; done < count; done += keysieve::kSetsAtATime) {
      const std::span some(sets + done, std::min(count - done, keysieve::kSetsAtATime));
      if (!keysieve::add_candidates(some, hash_per_seed, Z_ARRVAL_P(return_value))) break;
    }
  }
  free_alloca(sets, use_heap);
}

ZEND_FUNCTION(KeySieve_stats) {
  ZEND_PARSE_PARAMETERS_NONE();

  array_init(return_value);
  PublishedSet::table().for_each(
      [return_value](const PublishedSet& set) { keysieve::add_counts(return_value, set); });
}

ZEND_FUNCTION(KeySieve_begin_request) {
  ZEND_PARSE_PARAMETERS_NONE();

  ++KEYSIEVE_G(request);
  keysieve::end_request();
}
