#include "ext/classes.hpp"

#include <cmath>

#include "core/worker/seen/seen_facts.hpp"
#include "ext/properties.hpp"

namespace keysieve {
namespace {

zend_class_entry* seen_info_class = nullptr;

}  // namespace

void prepare_seen_info_class(zend_class_entry* registered) {
  seen_info_class = registered;
  prepare_facts_class(registered);
}

void make_seen_info(zval* result, const SeenReader& reader) noexcept {
  // Everything is copied first: Properties says why.
  const SeenFacts facts = seen_facts(reader);
  const std::string_view on_unavailable = to_string(reader.on_unavailable());
  const UnixSeconds looked_at = reader.page()->looked_at.load(std::memory_order_relaxed);

  Properties properties(result, seen_info_class);
  properties.set_moment("windowBeginsAt", facts.newest_begins);
  properties.set_moment("windowEndsAt", facts.newest_ends);
  properties.set_moment("oldestBeginsAt", facts.oldest_begins);
  properties.set("windows", facts.windows);
  properties.set("filters", facts.filters);
  properties.set("windowCapacity", facts.capacity);
  properties.set("estimatedWindowKeys", static_cast<std::uint64_t>(std::llround(facts.keys)));
  properties.set("sizeBytes", facts.bytes);
  properties.set("targetFalsePositiveRate", facts.target_fpr);
  properties.set("estimatedFalsePositiveRate", facts.estimated_fpr);
  properties.set("onUnavailable", on_unavailable);
  properties.set_moment_or_null("lookedAt", looked_at);
}

}  // namespace keysieve

// Private: only SeenSet creates objects of this class.
ZEND_METHOD(KeySieve_SeenInfo, __construct) {
  ZEND_PARSE_PARAMETERS_NONE();
}
