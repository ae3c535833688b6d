#include "tools/loader/refresh/store_records.hpp"

#include "core/publisher/shm/bypass.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {
namespace {

// Why a record cannot be read; nothing when it can.
template <typename Read>
std::optional<Error> unreadable(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data && error.kind() != ErrorKind::Incompatible) throw;
    return error;
  }
  return std::nullopt;
}

}  // namespace

StoreRecords read_store_records(Store& store, const std::string& set_name, const std::string& store_name) {
  const auto [bypass_of_set, bypass_of_all] = store_bypass_keys(store, set_name);
  const std::array keys{pointer_key(store, set_name), bypass_of_set, bypass_of_all};
  std::vector<std::optional<std::string>> texts;
  const bool is_one_by_one = unreadable([&] { texts = store.get_many(keys); }).has_value();
  bool is_any_read = false;
  const auto text_of = [&](std::size_t i) {
    auto text = is_one_by_one ? store.get(keys[i]) : texts[i];
    is_any_read = true;
    return text;
  };

  StoreRecords records;
  records.pointer_error = unreadable([&] {
    const auto text = text_of(0);
    if (text) records.pointer = decode_pointer_record(*text, store_name + ": " + keys[0]);
  });
  const auto read_bypass = [&](std::size_t i) {
    std::optional<StoreBypass> bypass = StoreBypass{};
    if (auto error = unreadable([&] { bypass = decode_store_bypass(text_of(i)); })) {
      records.bypass_error = std::move(error);
    }
    return bypass;
  };
  records.bypasses = {.of_set = read_bypass(1), .of_all = read_bypass(2)};
  if (!is_any_read) {
    records.bypasses.reset();
    records.bypass_error.reset();
  }
  return records;
}

std::optional<UnixSeconds> apply(const StoreBypasses& bypasses, const std::string& directory,
                                 const std::string& set_name) {
  const std::optional<UnixSeconds> until = bypassed_until(bypasses, unix_now());
  if (until) {
    set_store_bypass(directory, set_name, *until);
  } else {
    clear_store_bypass(directory, set_name);
  }
  return until;
}

}  // namespace keysieve
