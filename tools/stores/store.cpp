#include "tools/stores/store.hpp"

#include <algorithm>
#include <array>

#include "core/base/error.hpp"
#include "tools/stores/store_url.hpp"

namespace keysieve {
namespace {

struct Scheme {
  std::string_view name;
  StoreOpener (*opener)(StoreUrl url);
};

constexpr std::array kSchemes{
    Scheme{"lmdb", lmdb_store_opener},
    Scheme{"dir", dir_store_opener},
    Scheme{"redis", redis_store_opener},
    Scheme{"redis+unix", redis_store_opener},
    Scheme{"redis-cluster", redis_store_opener},
    Scheme{"redis-sentinel", redis_store_opener},
    Scheme{"rediss", redis_store_opener},
    Scheme{"rediss-cluster", redis_store_opener},
    Scheme{"rediss-sentinel", redis_store_opener},
};

const Scheme* find_scheme(std::string_view text) noexcept {
  const auto found = std::find_if(kSchemes.begin(), kSchemes.end(), [text](const Scheme& scheme) {
    return text.starts_with(scheme.name) && text.substr(scheme.name.size()).starts_with(':');
  });
  return found == kSchemes.end() ? nullptr : &*found;
}

StoreOpener opener_of(const std::string& url) {
  if (const Scheme* scheme = find_scheme(url)) return scheme->opener(parse_store_url(url));
  // Only what comes before the colon is shown: the rest may hold a password.
  throw Error(ErrorKind::Usage, "store \"" + url.substr(0, url.find(':')) +
                                    "\" is not known; a store's URL begins with " + store_schemes());
}

bool is_in_record_key(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':' || c == '_' ||
         c == '.' || c == '-';
}

}  // namespace

std::unique_ptr<Store> open_store(const std::string& url, IfMissing if_missing, Patience patience) {
  return opener_of(url)(if_missing, patience);
}

void check_store_url(const std::string& url) {
  static_cast<void>(opener_of(url));
}

std::string store_schemes() {
  std::string names;
  for (const Scheme& scheme : kSchemes) {
    const bool is_last = &scheme == &kSchemes.back();
    names.append(names.empty() ? "" : is_last ? " or " : ", ").append(scheme.name).append(":");
  }
  return names;
}

bool is_store_url(std::string_view text) noexcept {
  return find_scheme(text) != nullptr;
}

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
