// The module: functions that PHP calls when it starts and stops, when a thread and a request start and stop,
// and for phpinfo().
#include <utility>
#include <vector>

#include "core/worker/filters/instruction_set.hpp"
#include "core/worker/snapshot/layout.hpp"
#include "ext/attached_sets.hpp"
#include "ext/classes.hpp"
#include "ext/exceptions.hpp"
#include "ext/php_keysieve.h"
#include "ext/settings.hpp"
// After the headers above, because it uses PHP's macros
#include "ext/keysieve_arginfo.h"

ZEND_DECLARE_MODULE_GLOBALS(keysieve)

namespace {

using keysieve::AttachedSeen;
using keysieve::AttachedSet;
using keysieve::SetsBySource;

void construct_globals(void* memory) {
#if defined(ZTS) && defined(COMPILE_DL_KEYSIEVE)
  ZEND_TSRMLS_CACHE_UPDATE();
#endif
  auto* globals = static_cast<zend_keysieve_globals*>(memory);
  *globals = {};
  globals->sets_by_source = new SetsBySource;
}

void destroy_globals(void* memory) {
  delete static_cast<zend_keysieve_globals*>(memory)->sets_by_source;
}

ZEND_MINIT_FUNCTION(keysieve) {
  // Reads the environment, once. Later a thread may do it while another one is in putenv().
  keysieve::best_instruction_set();
  keysieve::register_settings(type, module_number);
  keysieve::keep_availability_class(register_class_KeySieve_Availability());
  keysieve::prepare_set_class(register_class_KeySieve_Set(register_class_KeySieve_Membership()));
  keysieve::prepare_map_class(register_class_KeySieve_Map());
  keysieve::prepare_info_class(register_class_KeySieve_Info());
  keysieve::prepare_seen_set_class(register_class_KeySieve_SeenSet(register_class_KeySieve_SeenKeys()));
  keysieve::prepare_seen_info_class(register_class_KeySieve_SeenInfo());
  keysieve::prepare_local_filter_class(register_class_KeySieve_LocalFilter());
  zend_class_entry* exception = register_class_KeySieve_Exception(zend_ce_throwable);
  zend_class_entry* unavailable =
      register_class_KeySieve_UnavailableException(spl_ce_RuntimeException, exception);
  keysieve::keep_exception_classes(
      unavailable, register_class_KeySieve_InvalidNameException(zend_ce_value_error, exception));
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
  KEYSIEVE_G(attached_sets) = &KEYSIEVE_G(sets_by_source)->of_current_settings();
  KEYSIEVE_G(attached_sets)->between_requests();
  return SUCCESS;
}

// Of PHP code that runs even later, such as a session handler, the next request's beginning takes care.
ZEND_RSHUTDOWN_FUNCTION(keysieve) {
  KEYSIEVE_G(attached_sets)->between_requests();
  return SUCCESS;
}

// As of the set's last lookup.
std::string description_of(const AttachedSet& set) {
  const keysieve::SetReader& reader = set.reader();
  std::string text(to_string(reader.availability()));
  if (const keysieve::Attachment* attachment = reader.attachment()) {
    const keysieve::SnapshotView& snapshot = attachment->snapshot();
    const keysieve::SnapshotHeader& header = snapshot.header();
    text += ", publication " + std::to_string(attachment->id().publication) + ", " +
            std::string(snapshot.kind().name) + ", " + std::to_string(header.key_count) +
            (header.key_count == 1 ? " key, " : " keys, ");
    if (snapshot.is_map()) text += "values of " + std::to_string(header.value_bits) + " bits, ";
    if (header.retrieval_bytes != 0) text += std::to_string(header.known_absent) + " known absent, ";
    text += std::to_string(header.file_bytes) + " bytes";
  }
  if (!reader.reason().empty()) text += " (" + std::string(reader.reason()) + ")";
  return text;
}

std::string description_of(const AttachedSeen& set) {
  const keysieve::SeenReader& reader = set.reader();
  std::string text(to_string(reader.availability()));
  if (!reader.is_ready()) return text + " (" + reader.reason() + ")";
  std::uint64_t bytes = 0;
  for (const keysieve::SeenFilter& filter : reader.filters()) bytes += filter.words().size_bytes();
  return text + ", " + std::to_string(reader.filters().size()) +
         (reader.filters().size() == 1 ? " filter, " : " filters, ") + std::to_string(bytes) + " bytes";
}

using Rows = std::vector<std::pair<std::string, std::string>>;
// Copied before anything is printed: an output callback may ask new sets, which can reallocate the table.
Rows rows_of_info() noexcept {
  Rows rows;
  rows.emplace_back("Snapshot formats", keysieve::snapshot_formats_text());
  rows.emplace_back("Directory", keysieve::view_of(KEYSIEVE_G(directory)));
  KEYSIEVE_G(attached_sets)->sets().for_each([&rows](const AttachedSet& set) {
    rows.emplace_back("Set " + std::string(set.name()), description_of(set));
  });
  KEYSIEVE_G(attached_sets)->seen_sets().for_each([&rows](const AttachedSeen& set) {
    rows.emplace_back("Seen set " + std::string(set.name()), description_of(set));
  });
  return rows;
}

ZEND_MINFO_FUNCTION(keysieve) {
  const Rows rows = rows_of_info();
  php_info_print_table_start();
  php_info_print_table_row(2, "keysieve support", KEYSIEVE_G(enabled) ? "enabled" : "disabled");
  php_info_print_table_row(2, "keysieve version", PHP_KEYSIEVE_VERSION);
  for (const auto& [name, description] : rows) php_info_print_table_row(2, name.c_str(), description.c_str());
  php_info_print_table_end();
  keysieve::print_settings(zend_module);
}

const zend_module_dep dependencies[] = {ZEND_MOD_REQUIRED("date") ZEND_MOD_REQUIRED("spl") ZEND_MOD_END};

}  // namespace

zend_module_entry keysieve_module_entry = {STANDARD_MODULE_HEADER_EX,
                                           nullptr,
                                           dependencies,
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
