// The module: functions that PHP calls when it starts and stops, when a thread and a request start and stop,
// and for phpinfo().
#include <cinttypes>

#include "core/worker/filters/instruction_set.hpp"
#include "core/worker/snapshot/layout.hpp"
#include "ext/classes.hpp"
#include "ext/published_set.hpp"
#include "ext/seen_set.hpp"
#include "ext/set_object.hpp"
#include "ext/settings.hpp"
// After the headers above, because it uses PHP's macros
#include "ext/keysieve_arginfo.h"

ZEND_DECLARE_MODULE_GLOBALS(keysieve)

namespace {

using keysieve::PublishedSet;
using keysieve::SeenSet;
using keysieve::SetObject;

void construct_globals(void* memory) {
#if defined(ZTS) && defined(COMPILE_DL_KEYSIEVE)
  ZEND_TSRMLS_CACHE_UPDATE();
#endif
  auto* globals = static_cast<zend_keysieve_globals*>(memory);
  *globals = {};
  globals->tables_by_source = new std::map<std::string, keysieve::SetTables>;
}

void destroy_globals(void* memory) {
  delete static_cast<zend_keysieve_globals*>(memory)->tables_by_source;
}

ZEND_MINIT_FUNCTION(keysieve) {
  // Reads the environment, once. Later a thread may do it while another one is in putenv().
  keysieve::best_instruction_set();
  keysieve::register_settings(type, module_number);
  keysieve::availability_class = register_class_KeySieve_Availability();
  SetObject<PublishedSet>::prepare(register_class_KeySieve_Set(register_class_KeySieve_Membership()));
  SetObject<PublishedSet>::prepare(register_class_KeySieve_Map());
  keysieve::prepare_info_class(register_class_KeySieve_Info());
  SetObject<SeenSet>::prepare(register_class_KeySieve_SeenSet(register_class_KeySieve_SeenKeys()));
  keysieve::prepare_seen_info_class(register_class_KeySieve_SeenInfo());
  keysieve::prepare_local_filter_class(register_class_KeySieve_LocalFilter());
  zend_class_entry* exception = register_class_KeySieve_Exception(zend_ce_throwable);
  keysieve::unavailable_exception_class =
      register_class_KeySieve_UnavailableException(spl_ce_RuntimeException, exception);
  keysieve::invalid_name_exception_class =
      register_class_KeySieve_InvalidNameException(zend_ce_value_error, exception);
  return SUCCESS;
}

ZEND_MSHUTDOWN_FUNCTION(keysieve) {
  keysieve::unregister_settings(type, module_number);
  return SUCCESS;
}

ZEND_RINIT_FUNCTION(keysieve) {
#if defined(ZTS) && defined(COMPILE_DL_KEYSIEVE)
  ZEND_TSRMLS_CACHE_UPDATE();
#endif
  keysieve::begin_request();
  return SUCCESS;
}

// What PHP code that runs even later maps, such as a session handler, waits for the end of the next request
// with the same directory and owner.
ZEND_RSHUTDOWN_FUNCTION(keysieve) {
  keysieve::end_request();
  return SUCCESS;
}

void append(smart_str* text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) smart_str_appendl(text, part.data(), part.size());
}

// These describe a set as of its last lookup.
void describe(smart_str* text, const PublishedSet& set) {
  const keysieve::SetReader& reader = set.reader();
  append(text, {to_string(reader.availability())});
  if (const keysieve::Attachment* attachment = reader.attachment()) {
    const keysieve::SnapshotView& snapshot = attachment->snapshot();
    const keysieve::SnapshotHeader& header = snapshot.header();
    smart_str_append_printf(text, ", publication %" PRIu64 ", ", attachment->id().publication);
    append(text, {snapshot.kind().name});
    smart_str_append_printf(text, ", %" PRIu64 " %s, ", header.key_count,
                            header.key_count == 1 ? "key" : "keys");
    if (snapshot.is_map()) smart_str_append_printf(text, "values of %d bits, ", int{header.value_bits});
    if (header.retrieval_bytes != 0)
      smart_str_append_printf(text, "%" PRIu64 " known absent, ", std::uint64_t{header.known_absent});
    smart_str_append_printf(text, "%" PRIu64 " bytes", header.file_bytes);
  }
  if (!reader.reason().empty()) append(text, {" (", reader.reason(), ")"});
}

void describe(smart_str* text, const SeenSet& set) {
  const keysieve::SeenReader& reader = set.reader();
  append(text, {to_string(reader.availability())});
  if (!reader.is_ready()) return append(text, {" (", reader.reason(), ")"});
  std::uint64_t bytes = 0;
  for (const keysieve::SeenFilter& filter : reader.filters()) bytes += filter.words().size_bytes();
  smart_str_append_printf(text, ", %zu %s, %" PRIu64 " bytes", reader.filters().size(),
                          reader.filters().size() == 1 ? "filter" : "filters", bytes);
}

template <typename Set>
void add_rows(HashTable* rows, std::string_view of, keysieve::SetTable<Set>& sets) {
  sets.for_each([&](const Set& set) {
    smart_str text{};
    describe(&text, set);
    zval description;
    ZVAL_STR(&description, smart_str_extract(&text));
    zend_string* name = keysieve::join({of, set.name()});
    zend_hash_update(rows, name, &description);
    zend_string_release(name);
  });
}

ZEND_MINFO_FUNCTION(keysieve) {
  static const std::string formats = keysieve::snapshot_formats_text();
  // Copied before anything is printed: an output callback may ask new sets, which changes the tables.
  HashTable* rows = zend_new_array(0);
  add_rows(rows, "Set ", PublishedSet::table());
  add_rows(rows, "Seen set ", SeenSet::table());
  php_info_print_table_start();
  php_info_print_table_row(2, "keysieve support", KEYSIEVE_G(enabled) ? "enabled" : "disabled");
  php_info_print_table_row(2, "keysieve version", PHP_KEYSIEVE_VERSION);
  php_info_print_table_row(2, "Snapshot formats", formats.c_str());
  php_info_print_table_row(2, "Directory", ZSTR_VAL(KEYSIEVE_G(directory)));
  zend_string* name = nullptr;
  zval* description = nullptr;
  ZEND_HASH_FOREACH_STR_KEY_VAL(rows, name, description) {
    php_info_print_table_row(2, ZSTR_VAL(name), Z_STRVAL_P(description));
  }
  ZEND_HASH_FOREACH_END();
  zend_array_destroy(rows);
  php_info_print_table_end();
  keysieve::print_settings(zend_module);
}

const zend_module_dep kDependencies[] = {ZEND_MOD_REQUIRED("date") ZEND_MOD_REQUIRED("spl") ZEND_MOD_END};

}  // namespace

zend_module_entry keysieve_module_entry = {STANDARD_MODULE_HEADER_EX,
                                           nullptr,
                                           kDependencies,
                                           "keysieve",
                                           ext_functions,
                                           ZEND_MINIT(keysieve),
                                           ZEND_MSHUTDOWN(keysieve),
                                           ZEND_RINIT(keysieve),
                                           ZEND_RSHUTDOWN(keysieve),
                                           ZEND_MINFO(keysieve),
                                           PHP_KEYSIEVE_VERSION,
                                           ZEND_MODULE_GLOBALS(keysieve),
                                           construct_globals,
                                           destroy_globals,
                                           nullptr,
                                           STANDARD_MODULE_PROPERTIES_EX};

#ifdef COMPILE_DL_KEYSIEVE
#ifdef ZTS
ZEND_TSRMLS_CACHE_DEFINE()
#endif
ZEND_GET_MODULE(keysieve)
#endif
