// Whatever a Redis server, a cluster or a sentinel replies, a store returns what the bytes say, or an Error
// that names it. Input: how Redis is reached (a byte), what is asked (three bytes), then the replies.
#include <hiredis/hiredis.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/worker/base/error.hpp"
#include "tests/fuzz/canned_connections.hpp"
#include "tools/stores/store.hpp"

// In place of hiredis' own.
extern "C" {
redisContext* redisConnectWithTimeout(const char* /*host*/, int /*port*/, timeval /*timeout*/) {
  return redisConnectFd(keysieve::fuzz::canned_connections().connect());
}
redisContext* redisConnectUnixWithTimeout(const char* /*path*/, timeval /*timeout*/) {
  return redisConnectFd(keysieve::fuzz::canned_connections().connect());
}
int redisEnableKeepAlive(redisContext* /*context*/) {
  return REDIS_OK;
}
}

namespace keysieve::fuzz {
namespace {

constexpr std::array kUrls{"redis+unix:///redis", "redis://user:hunter2@redis/3?wait_replicas=1",
                           "redis-cluster://a,b?failover=0ms", "redis-sentinel://a,b/main?failover=0ms"};
constexpr std::size_t kOperations = 3;
constexpr std::size_t kMaxEntries = 3;
const std::string kLog = "keysieve:tags:adds";
const std::array<std::string, 2> kKeys{"keysieve:tags:current", "keysieve:tags:chunk"};

struct Asked {
  Store& store;
  std::string_view replies;
};

void check_value(const Asked& asked, const std::optional<std::string>& value) {
  check(asked.replies.find(value ? std::string_view(*value) : "-1") != std::string_view::npos);
}
void check_entries(const Asked& asked, const std::vector<LogEntry>& entries) {
  check(entries.size() <= kMaxEntries);
  LogPosition last{};
  for (const LogEntry& entry : entries) {
    check(std::exchange(last, entry.position) < entry.position);
    check(asked.replies.find(entry.key) != std::string_view::npos);
  }
}

constexpr std::array<void (*)(const Asked&), 11> kAsk{
    [](const Asked& asked) {
      for (const auto& value : asked.store.get_many(kKeys)) check_value(asked, value);
    },
    [](const Asked& asked) { check_entries(asked, asked.store.read_after(kLog, {}, kMaxEntries)); },
    [](const Asked& asked) { static_cast<void>(asked.store.end_of(kLog)); },
    [](const Asked& asked) {
      for (const std::string& key : asked.store.keys_with_prefix("keysieve:"))
        check(asked.replies.find(key) != std::string_view::npos);
    },
    [](const Asked& asked) {
      asked.store.put_many(std::array{Record{kKeys[0], "1"}, Record{kKeys[1], "2"}});
    },
    [](const Asked& asked) {
      static_cast<void>(asked.store.put_if_absent({kKeys[0], "1"}));
    },
    [](const Asked& asked) {
      static_cast<void>(asked.store.compare_and_set({kKeys[0], "1"}, "0"));
    },
    [](const Asked& asked) { asked.store.remove_many(kKeys); },
    [](const Asked& asked) { static_cast<void>(asked.store.append(kLog, kKeys)); },
    [](const Asked& asked) {
      asked.store.trim(kLog, {1, 1});
    },
    [](const Asked& asked) {
      const std::unique_ptr<StoreWatch> watch = asked.store.watch();
      for (int i = 0; i < 2; ++i) {
        for (const std::string& name : watch->take())
          check(asked.replies.find(name) != std::string_view::npos);
      }
    }};

}  // namespace
}  // namespace keysieve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace keysieve::fuzz;
  if (size < 1 + kOperations) return 0;
  const std::string_view replies(reinterpret_cast<const char*>(data) + 1 + kOperations,
                                 size - 1 - kOperations);
  const std::string url = kUrls[data[0] % kUrls.size()];
  const std::string name = url.substr(0, url.find_first_of(":") + 3);
  canned_connections().answer_with(replies);
  std::unique_ptr<keysieve::Store> store;
  if (!succeeds(name, [&] { store = keysieve::open_store(url); })) return 0;
  for (std::size_t i = 1; i <= kOperations; ++i)
    succeeds(store->name(), [&] { kAsk[data[i] % kAsk.size()]({*store, replies}); });
  return 0;
}
