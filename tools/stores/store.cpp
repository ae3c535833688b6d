#include "tools/stores/store.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace keysieve {
namespace {

bool is_in_record_key(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':' || c == '_' ||
         c == '.' || c == '-';
}

}  // namespace

void Store::check_log(const std::string& log) const {
  if (!log.empty() && log.size() <= kMaxRecordKeyBytes &&
      std::all_of(log.begin(), log.end(), is_in_record_key)) {
    return;
  }
  throw Error(ErrorKind::Usage, name() + ": a log's name is 1 to " + std::to_string(kMaxRecordKeyBytes) +
                                    " of A-Za-z0-9:_.- and not \"" + log + "\"");
}

void Store::check_logged(const std::string& log, std::span<const std::string> keys) const {
  check_log(log);
  for (const std::string& key : keys) {
    if (key.size() <= kMaxLoggedKeyBytes) continue;
    throw Error(ErrorKind::Usage, name() + ": " + log + ": a key of " + std::to_string(key.size()) +
                                      " bytes cannot be added, only built into a set; " +
                                      std::to_string(kMaxLoggedKeyBytes) + " bytes at most can");
  }
}

}  // namespace keysieve
