#include <algorithm>
#include <array>

#include "core/base/error.hpp"
#include "tools/stores/store.hpp"
#include "tools/stores/store_url.hpp"

namespace keysieve {
namespace {

struct Scheme {
  std::string_view name;
  std::unique_ptr<Store> (*open)(StoreUrl url, IfMissing if_missing, Patience patience);
};

constexpr std::array kSchemes{
    Scheme{"lmdb", open_lmdb_store},
    Scheme{"dir", open_dir_store},
    Scheme{"redis", open_redis_store},
    Scheme{"redis+unix", open_redis_store},
    Scheme{"redis-cluster", open_redis_store},
    Scheme{"redis-sentinel", open_redis_store},
    Scheme{"rediss", open_redis_store},
    Scheme{"rediss-cluster", open_redis_store},
    Scheme{"rediss-sentinel", open_redis_store},
};

const Scheme* find_scheme(std::string_view text) noexcept {
  const auto found = std::find_if(kSchemes.begin(), kSchemes.end(), [text](const Scheme& scheme) {
    return text.starts_with(scheme.name) && text.substr(scheme.name.size()).starts_with(':');
  });
  return found == kSchemes.end() ? nullptr : &*found;
}

}  // namespace

std::unique_ptr<Store> open_store(const std::string& url, IfMissing if_missing, Patience patience) {
  if (const Scheme* scheme = find_scheme(url))
    return scheme->open(parse_store_url(url), if_missing, patience);
  // Only what comes before the colon is shown: the rest may hold a password.
  throw UsageError("store \"" + url.substr(0, url.find(':')) + "\" is not known; a store's URL begins with " +
                   store_schemes());
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

}  // namespace keysieve
