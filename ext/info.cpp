#include "ext/info.hpp"

namespace keysieve {
namespace {

zend_class_entry* info_class = nullptr;
zend_object_handlers info_handlers;

zend_object* create_info(zend_class_entry* of_class) {
  zend_object* object = zend_objects_new(of_class);
  object_properties_init(object, of_class);
  object->handlers = &info_handlers;
  return object;
}

// Initialises the readonly properties of one object, each once.
class Properties {
 public:
  explicit Properties(zend_object* object) noexcept : object_(object) {}

  void set(std::string_view name, std::uint64_t number) {
    zval value;
    ZVAL_LONG(&value, static_cast<zend_long>(number));
    set(name, &value);
  }
  void set(std::string_view name, double number) {
    zval value;
    ZVAL_DOUBLE(&value, number);
    set(name, &value);
  }
  void set(std::string_view name, std::optional<double> number) {
    if (number) return set(name, *number);
    set_null(name);
  }
  void set(std::string_view name, std::string_view text) {
    zval value;
    ZVAL_STRINGL(&value, text.data(), text.size());
    set(name, &value);
    zval_ptr_dtor(&value);
  }
  // Empty: null.
  void set_text_or_null(std::string_view name, std::string_view text) {
    if (!text.empty()) return set(name, text);
    set_null(name);
  }
  void set_moment(std::string_view name, UnixSeconds moment) {
    zval value;
    php_date_instantiate(php_date_get_immutable_ce(), &value);
    const std::string text = "@" + std::to_string(moment);
    php_date_initialize(Z_PHPDATE_P(&value), text.data(), text.size(), nullptr, nullptr, 0);
    set(name, &value);
    zval_ptr_dtor(&value);
  }
  // 0: null.
  void set_moment_or_null(std::string_view name, UnixSeconds moment) {
    if (moment != 0) return set_moment(name, moment);
    set_null(name);
  }

 private:
  void set_null(std::string_view name) {
    zval value;
    ZVAL_NULL(&value);
    set(name, &value);
  }
  void set(std::string_view name, zval* value) {
    zend_update_property(info_class, object_, name.data(), name.size(), value);
  }

  zend_object* object_;
};

}  // namespace

void prepare_info_class(zend_class_entry* registered) {
  info_class = registered;
  info_class->create_object = create_info;
  info_handlers = std_object_handlers;
  info_handlers.clone_obj = nullptr;
}

void make_info(zval* result, const SetReader& reader, const std::string& trouble) {
  // Everything is copied before the first object is made. Making one can start PHP's cycle collector, which
  // runs destructors; a destructor may ask the same set, and so unmap what is read here.
  const Attachment& attachment = *reader.attachment();
  const SnapshotView& snapshot = attachment.snapshot();
  const SnapshotHeader header = snapshot.header();
  const std::string_view kind = snapshot.kind().name;  // a constant of the program
  const std::string key_profile(snapshot.key_profile());
  const double bits_per_key = snapshot.bits_per_key();
  const std::optional<double> fill_ratio = snapshot.fill_ratio();
  const UnixSeconds valid_until = snapshot.valid_until();
  const std::uint64_t generation = attachment.live().generation;
  const UnixSeconds published_at = attachment.live().published_at;
  const std::uint64_t live_keys = attachment.layer().keys();
  const std::uint64_t publication = attachment.id().publication;
  const UnixSeconds last_confirmed = reader.control()->last_confirmed.load(std::memory_order_relaxed);

  object_init_ex(result, info_class);
  Properties properties(Z_OBJ_P(result));
  properties.set("generation", generation);
  properties.set("publication", publication);
  properties.set("kind", kind);
  properties.set("keyCount", header.key_count);
  properties.set("knownAbsentCount", header.known_absent);
  properties.set("shardCount", std::uint64_t{header.shard_count});
  properties.set("shardBytes", std::uint64_t{params_of(header).stride()});
  properties.set("sizeBytes", header.file_bytes);
  properties.set("bitsPerKey", bits_per_key);
  properties.set("targetFalsePositiveRate", header.target_fpr);
  properties.set("estimatedFalsePositiveRate", header.estimated_fpr);
  properties.set("fillRatio", fill_ratio);
  properties.set("keyProfile", std::string_view(key_profile));
  properties.set_moment("asOf", header.as_of);
  properties.set_moment("builtAt", header.built_at);
  properties.set_moment("publishedAt", published_at);
  properties.set_moment_or_null("lastConfirmedAt", last_confirmed);
  properties.set_moment_or_null("validUntil", valid_until);
  properties.set("liveKeys", live_keys);
  properties.set_text_or_null("trouble", trouble);
}

}  // namespace keysieve

// Private: only Set creates objects of this class.
ZEND_METHOD(KeySieve_Info, __construct) {
  ZEND_PARSE_PARAMETERS_NONE();
}
