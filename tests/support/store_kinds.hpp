// Every kind of store, for suites that run over each of them: how to get an empty one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/certificates.hpp"
#include "tests/support/memcached_server.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/store_decorator.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/web_server.hpp"
#include "tools/stores/store.hpp"

namespace keysieve::test {

// A store whose writers use a folder, and whose readers the web server that shows it.
// Reads by a new connection each time, as keysieved does once per poll.
class ServedStore : public StoreDecorator {
 public:
  // The URL of a folder of the shared web server.
  explicit ServedStore(const std::string& url) : ServedStore(url, open_store(folder_url(url))) {}

  std::optional<std::string> get(const std::string& key) override { return web()->get(key); }
  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    return web()->get_many(keys);
  }
  std::vector<std::optional<std::string>> get_immutable(std::span<const std::string> keys) override {
    return web()->get_immutable(keys);
  }
  std::vector<LogEntry> read_after(const std::string& log, const LogPosition& after,
                                   std::size_t max_entries) override {
    return web()->read_after(log, after, max_entries);
  }
  LogFacts facts_of(const std::string& log) override { return web()->facts_of(log); }

 private:
  ServedStore(const std::string& url, std::unique_ptr<Store> folder)
      : StoreDecorator(*folder), folder_(std::move(folder)), open_(opener_of(url)) {}

  static std::string folder_url(const std::string& url) {
    const std::size_t query = url.find('?');
    const std::string path = url.substr(0, query);
    return "dir:" + shared_web_server().folder(path.substr(path.rfind('/') + 1)) + url.substr(query);
  }
  std::unique_ptr<Store> web() { return open_(IfMissing::Refuse, Patience::None); }

  std::unique_ptr<Store> folder_;
  StoreOpener open_;
};

struct StoreKind {
  const char* name;
  const char* scheme;  // of the URL that is read
  // The URL of an empty store that may use that directory.
  std::string (*empty_store)(const TemporaryDirectory& directory);
  // Opens it to read and write.
  std::unique_ptr<Store> (*open)(const std::string& url) = [](const std::string& url) {
    return open_store(url);
  };

  [[nodiscard]] const StoreAbilities& abilities() const { return abilities_of(scheme); }

  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest calls it by this name
  friend void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.name; }
};

// The URL with one more parameter, for example "prefix=ours".
inline std::string with_parameter(const std::string& url, const std::string& parameter) {
  return url + (url.find('?') == std::string::npos ? "?" : "&") + parameter;
}
// The name of the store with that URL.
inline std::string store_name(const std::string& url) {
  return url.substr(0, url.find('?'));
}

// Waits for a server that is only slow.
inline std::string patient(const std::string& url) {
  return with_parameter(url, "timeout=2m");
}

inline const StoreKind kLmdb{
    "lmdb", "lmdb:", [](const TemporaryDirectory& directory) { return "lmdb:" + directory / "lmdb"; }};
inline const StoreKind kDir{
    "dir", "dir:", [](const TemporaryDirectory& directory) { return "dir:" + directory / "dir"; }};
inline const StoreKind kRedisTcp{"redis_tcp", "redis:", [](const TemporaryDirectory&) {
                                   shared_redis().command("FLUSHALL");
                                   return patient(shared_redis().tcp_url());
                                 }};
inline const StoreKind kRedisUnix{"redis_unix", "redis+unix:", [](const TemporaryDirectory&) {
                                    shared_redis().command("FLUSHALL");
                                    return patient(shared_redis().unix_url());
                                  }};
inline const StoreKind kRedisCluster{"redis_cluster", "redis-cluster:", [](const TemporaryDirectory&) {
                                       shared_redis_cluster().flush();
                                       return patient(shared_redis_cluster().url());
                                     }};

inline const StoreKind kRedisSentinel{"redis_sentinel", "redis-sentinel:", [](const TemporaryDirectory&) {
                                        shared_redis_sentinels().master().command("FLUSHALL");
                                        return patient(shared_redis_sentinels().url());
                                      }};

inline std::string of_our_authority(const std::string& url) {
  return with_parameter(url, "ca_file=" + shared_certificates().path("ca.crt"));
}
inline const StoreKind kRedisTls{"redis_tls", "rediss:", [](const TemporaryDirectory&) {
                                   shared_redis_over_tls().command("FLUSHALL");
                                   return of_our_authority(patient(shared_redis_over_tls().tcp_url()));
                                 }};
inline const StoreKind kRedisClusterTls{
    "redis_cluster_tls", "rediss-cluster:", [](const TemporaryDirectory&) {
      shared_redis_cluster_over_tls().flush();
      return of_our_authority(patient(shared_redis_cluster_over_tls().url()));
    }};
inline const StoreKind kRedisSentinelTls{
    "redis_sentinel_tls", "rediss-sentinel:", [](const TemporaryDirectory&) {
      shared_redis_sentinels_over_tls().master().command("FLUSHALL");
      return of_our_authority(patient(shared_redis_sentinels_over_tls().url()));
    }};

inline const StoreKind kMemcached{"memcached", "memcached:", [](const TemporaryDirectory&) {
                                    shared_memcached().flush();
                                    return patient(shared_memcached().url());
                                  }};
inline const StoreKind kMemcachedPair{"memcached_pair", "memcached:", [](const TemporaryDirectory&) {
                                        shared_memcached_pair().flush();
                                        return patient(shared_memcached_pair().url());
                                      }};
// Written as the folder that a web server shows.
inline const StoreKind kHttp{
    "http", "http:",
    [](const TemporaryDirectory&) {
      static int number = 0;
      const std::string name = std::to_string(++number);
      const std::string nothing = "keysieve:nothing";  // but the file of changes
      open_store("dir:" + shared_web_server().make_folder(name))->remove_many({&nothing, 1});
      return patient(shared_web_server().url(name));
    },
    [](const std::string& url) -> std::unique_ptr<Store> { return std::make_unique<ServedStore>(url); }};

// Every way to reach a store. Suites of transfer and of the programs run over the usual ones.
inline const std::vector<StoreKind> kStoreKinds{
    kLmdb,
    kDir,
    kRedisTcp,
    kRedisUnix,
    kRedisCluster,
    kMemcached,
    kMemcachedPair,
    kHttp,
    kRedisSentinel,
#ifdef KEYSIEVE_REDIS_TLS
    kRedisTls,
    kRedisClusterTls,
    kRedisSentinelTls,
#endif
};
constexpr std::size_t kUsualStoreKinds = 8;

// Those that can do at least that.
inline std::vector<StoreKind> stores_that(const StoreAbilities& can, std::size_t among = kStoreKinds.size()) {
  std::vector<StoreKind> stores;
  std::copy_if(kStoreKinds.begin(), kStoreKinds.begin() + static_cast<std::ptrdiff_t>(among),
               std::back_inserter(stores), [&](const StoreKind& kind) {
                 const StoreAbilities& has = kind.abilities();
                 return has.write >= can.write && has.compare_and_set >= can.compare_and_set &&
                        has.list >= can.list && has.log >= can.log && has.watch >= can.watch &&
                        has.durable >= can.durable;
               });
  return stores;
}
inline std::vector<StoreKind> usual_stores_that(const StoreAbilities& can) {
  return stores_that(can, kUsualStoreKinds);
}

// Shared by the suites of records, logs and watches.
class StoreConformance : public ::testing::TestWithParam<StoreKind> {
 protected:
  [[nodiscard]] std::unique_ptr<Store> open() const { return GetParam().open(url_); }
  std::unique_ptr<Store> open_with(const std::string& parameter) const {
    return GetParam().open(with_parameter(url_, parameter));
  }

  TemporaryDirectory directory_;
  std::string url_ = GetParam().empty_store(directory_);
};

inline std::string store_kind_name(const ::testing::TestParamInfo<StoreKind>& info) {
  return info.param.name;
}

}  // namespace keysieve::test
