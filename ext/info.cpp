#include "ext/classes.hpp"

#include "ext/properties.hpp"

namespace keysieve {
namespace {

zend_class_entry* info_class = nullptr;

}  // namespace

void prepare_info_class(zend_class_entry* registered) {
  info_class = registered;
  prepare_facts_class(registered);
}

void make_info(zval* result, const SetReader& reader, zend_string* trouble) noexcept {
  // Everything is copied first: Properties says why.
  const Attachment& attachment = *reader.attachment();
  const SnapshotView& snapshot = attachment.snapshot();
  const SnapshotHeader header = snapshot.header();
  const std::string_view kind = snapshot.kind().name;  // a constant of the program
  zend_string* key_profile = join({snapshot.key_profile()});
  const double bits_per_key = snapshot.bits_per_key();
  const std::optional<double> fill_ratio = snapshot.fill_ratio();
  const UnixSeconds valid_until = snapshot.valid_until();
  const std::uint64_t generation = attachment.live().generation;
  const UnixSeconds published_at = attachment.live().published_at;
  const std::uint64_t live_keys = attachment.layer().keys();
  const std::uint64_t publication = attachment.id().publication;
  const UnixSeconds last_confirmed = reader.control()->last_confirmed.load(std::memory_order_relaxed);

  Properties properties(result, info_class);
  properties.set("generation", generation);
  properties.set("publication", publication);
  properties.set("kind", kind);
  properties.set("keyCount", header.key_count);
  properties.set("knownAbsentCount", header.known_absent);
  properties.set("valueBits", std::uint64_t{header.value_bits});
  properties.set("shardCount", std::uint64_t{header.shard_count});
  properties.set("shardBytes", std::uint64_t{params_of(header).stride()});
  properties.set("sizeBytes", header.file_bytes);
  properties.set("bitsPerKey", bits_per_key);
  properties.set("targetFalsePositiveRate", header.target_fpr);
  properties.set("estimatedFalsePositiveRate", header.estimated_fpr);
  properties.set("fillRatio", fill_ratio);
  properties.set("keyProfile", key_profile);
  properties.set_moment("asOf", header.as_of);
  properties.set_moment("builtAt", header.built_at);
  properties.set_moment("publishedAt", published_at);
  properties.set_moment_or_null("lastConfirmedAt", last_confirmed);
  properties.set_moment_or_null("validUntil", valid_until);
  properties.set("addedKeys", live_keys);
  properties.set("trouble", trouble);
}

}  // namespace keysieve

// Private: only Set and Map create objects of this class.
ZEND_METHOD(KeySieve_Info, __construct) {
  ZEND_PARSE_PARAMETERS_NONE();
}
