#include "tools/stores/store.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "core/worker/base/error.hpp"
#include "tools/stores/store_url.hpp"

namespace keysieve {

// Each is defined in the file of its store, and takes the parameters that it knows. Throws Usage for what is
// wrong with the URL itself; nothing is opened or read before the opener is called.
StoreOpener dir_store_opener(StoreUrl& url);
StoreOpener lmdb_store_opener(StoreUrl& url);
StoreOpener redis_store_opener(StoreUrl& url);
StoreOpener memcached_store_opener(StoreUrl& url);
StoreOpener http_store_opener(StoreUrl& url);

namespace {

struct Scheme {
  std::string_view name;
  StoreOpener (*opener)(StoreUrl& url);
  StoreAbilities abilities;
  bool is_local_path = false;  // what follows is a path of this host, which may be relative
  std::chrono::seconds poll_interval{5};
};

constexpr StoreAbilities kEveryAbility{
    .write = true, .compare_and_set = true, .list = true, .log = true, .watch = true, .durable = true};
// It may evict any record, and does not notify of changes.
constexpr StoreAbilities kCache{.write = true, .compare_and_set = true};
constexpr StoreAbilities kReadOnly{.log = true, .durable = true};
constexpr std::chrono::seconds kWebPollInterval{30};

constexpr std::array kSchemes{
    Scheme{"lmdb", lmdb_store_opener, kEveryAbility, /*is_local_path=*/true},
    Scheme{"dir", dir_store_opener, kEveryAbility, /*is_local_path=*/true},
    Scheme{"redis", redis_store_opener, kEveryAbility},
    Scheme{"redis+unix", redis_store_opener, kEveryAbility},
    Scheme{"redis-cluster", redis_store_opener, kEveryAbility},
    Scheme{"redis-sentinel", redis_store_opener, kEveryAbility},
    Scheme{"rediss", redis_store_opener, kEveryAbility},
    Scheme{"rediss-cluster", redis_store_opener, kEveryAbility},
    Scheme{"rediss-sentinel", redis_store_opener, kEveryAbility},
    Scheme{"memcached", memcached_store_opener, kCache},
    Scheme{"memcached+unix", memcached_store_opener, kCache},
    Scheme{"https", http_store_opener, kReadOnly, false, kWebPollInterval},
    Scheme{"http", http_store_opener, kReadOnly, false, kWebPollInterval},
};

const LogPosition kBehindAll = log_position(~std::uint64_t{0}, ~std::uint64_t{0});

const Scheme* find_scheme(std::string_view text) noexcept {
  const auto found = std::find_if(kSchemes.begin(), kSchemes.end(), [text](const Scheme& scheme) {
    return text.starts_with(scheme.name) && text.substr(scheme.name.size()).starts_with(':');
  });
  return found == kSchemes.end() ? nullptr : &*found;
}

const Scheme& scheme_of(std::string_view url) {
  if (const Scheme* scheme = find_scheme(url)) return *scheme;
  // Only what comes before the colon is shown: the rest may hold a password.
  throw Error(ErrorKind::Usage, "store \"" + std::string(url.substr(0, url.find(':'))) +
                                    "\" is not known; a store's URL begins with " + store_schemes());
}

// Why a store cannot do that; nothing if it can.
std::optional<std::string> obstacle(StoreUse use, const StoreAbilities& abilities) {
  if (use == StoreUse::Read) return std::nullopt;
  if (use == StoreUse::List) {
    return abilities.list ? std::nullopt : std::optional("this store cannot list what it holds");
  }
  if (!abilities.write) return "this store is read-only";
  if (use == StoreUse::Append && !abilities.log) {
    return "this store carries no adds: build the set again and push it";
  }
  if (use == StoreUse::Bypass && !abilities.durable) {
    return "this store may forget a bypass: run keysieve bypass SET on each host";
  }
  if (use == StoreUse::Keep && !abilities.durable) return "this store may forget what is saved in it";
  return std::nullopt;
}

}  // namespace

StoreOpener opener_of(const std::string& url) {
  const Scheme& scheme = scheme_of(url);
  StoreUrl parsed = parse_store_url(url);
  StoreOpener opener = scheme.opener(parsed);
  if (parsed.parameters.empty()) return opener;
  refuse(parsed, "parameter " + parsed.parameters.begin()->first + " is not known to this store");
}

const StoreAbilities& abilities_of(std::string_view url) {
  return scheme_of(url).abilities;
}

void check_store_can(StoreUse use, const std::string& url) {
  const auto reason = obstacle(use, abilities_of(url));
  if (reason) throw Error(ErrorKind::Usage, parse_store_url(url).name + ": " + *reason);
}

std::chrono::milliseconds default_poll_interval(std::string_view url) {
  return scheme_of(url).poll_interval;
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

std::string absolute_store_url(const std::string& url) {
  const Scheme* scheme = find_scheme(url);
  if (scheme == nullptr || !scheme->is_local_path) return url;
  const std::size_t path = url.find(':') + 1;
  if (path == url.size() || std::string_view("/?#").find(url[path]) != std::string_view::npos) return url;
  std::error_code failure;
  const std::string working_directory = std::filesystem::current_path(failure).string();
  if (failure) throw Error(ErrorKind::MissingInput, "working directory: " + failure.message());
  return url.substr(0, path) + percent_encoded(working_directory, "/:@._-~") + "/" + url.substr(path);
}

bool may_concern(std::string_view changed, std::string_view set_name) {
  if (std::ranges::count(changed, ':') < 2) return true;
  const std::string_view of_set = changed.substr(0, changed.rfind(':'));
  return of_set.substr(of_set.rfind(':') + 1) == set_name;
}

LogPosition Store::end_of(const std::string& log) {
  read_after(log, kBehindAll, 1);
  return facts_of(log).end;
}

LogFacts Store::facts_of(const std::string& log) {
  const auto known = facts_.find(log);
  if (known != facts_.end()) return known->second;
  read_after(log, kBehindAll, 1);
  return facts_[log];
}

void Store::refuse_use(StoreUse use) const {
  throw Error(ErrorKind::Usage, name() + ": " + obstacle(use, abilities()).value());
}

void Store::check_logged(const std::string& log, std::span<const std::string> keys) const {
  for (const std::string& key : keys) {
    if (key.size() <= kMaxLoggedKeyBytes) continue;
    throw Error(ErrorKind::Usage, name() + ": " + log + ": a key of " + std::to_string(key.size()) +
                                      " bytes cannot be added, only built into a set; " +
                                      std::to_string(kMaxLoggedKeyBytes) + " bytes at most can");
  }
}

}  // namespace keysieve
