// The store in memcached, by libmemcached: one item per record, spread over the servers by consistent
// hashing.
#include <libmemcached/memcached.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "core/worker/base/error.hpp"
#include "tools/stores/store_file.hpp"
#include "tools/stores/store_url.hpp"

namespace keysieve {
namespace {

constexpr int kMemcachedPort = 11211;

constexpr time_t kNever = 0;
constexpr std::uint32_t kNoFlags = 0;

// libmemcached takes memory for a value as soon as the server has said how large it is, and then reads until
// it has come. The largest that anything here needs is the ring of many servers. No memory for more.
constexpr std::size_t kMaxMemoryBytes = std::size_t{16} << 20;

void* take_memory(const memcached_st* /*client*/, std::size_t bytes, void* /*context*/) {
  return bytes > kMaxMemoryBytes ? nullptr : std::malloc(bytes);
}
void* resize_memory(const memcached_st* /*client*/, void* memory, std::size_t bytes, void* /*context*/) {
  return bytes > kMaxMemoryBytes ? nullptr : std::realloc(memory, bytes);
}
void* take_zeroed(const memcached_st* /*client*/, std::size_t count, std::size_t bytes, void* /*context*/) {
  return bytes != 0 && count > kMaxMemoryBytes / bytes ? nullptr : std::calloc(count, bytes);
}
void free_memory(const memcached_st* /*client*/, void* memory, void* /*context*/) {
  std::free(memory);
}

using Result = std::unique_ptr<memcached_result_st,
                               decltype([](memcached_result_st* result) { memcached_result_free(result); })>;

struct Item {
  std::string value;
  std::uint64_t cas = 0;
};

std::string words_for(const memcached_st* client, memcached_return_t code) {
  switch (code) {
    case MEMCACHED_HOST_LOOKUP_FAILURE:
      return "the host is unknown";
    case MEMCACHED_TIMEOUT:
      return "the server does not answer in time";
    case MEMCACHED_E2BIG:
    case MEMCACHED_SERVER_MEMORY_ALLOCATION_FAILURE:
      return "the server has no room for it";
    case MEMCACHED_MEMORY_ALLOCATION_FAILURE:
      return "its reply is larger than a record can be, or memory is short";
    case MEMCACHED_CONNECTION_FAILURE:
    case MEMCACHED_SERVER_MARKED_DEAD:
    case MEMCACHED_SERVER_TEMPORARILY_DISABLED:
      return "the server does not accept connections";
    default:
      break;
  }
  const int number = memcached_last_error_errno(client);
  return number == 0 ? memcached_strerror(client, code) : std::strerror(number);
}

class MemcachedStore final : public Store {
 public:
  MemcachedStore(StoreUrl url, std::chrono::milliseconds timeout)
      : Store(url.name, url.prefix), url_(std::move(url)), timeout_(timeout) {}

  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    std::vector<std::optional<std::string>> values;
    values.reserve(keys.size());
    for (const std::string& key : keys) {
      auto item = find(key);
      values.push_back(item ? std::optional(std::move(item->value)) : std::nullopt);
    }
    return values;
  }

  void put_many(std::span<const Record> records) override {
    for (const auto& [key, value] : records) {
      check(memcached_set(client(), key.data(), key.size(), value.data(), value.size(), kNever, kNoFlags),
            key);
    }
  }

  bool compare_and_set(const Record& record, const std::optional<std::string>& expected) override {
    const auto& [key, value] = record;
    if (!expected) {
      return has_happened(
          memcached_add(client(), key.data(), key.size(), value.data(), value.size(), kNever, kNoFlags), key);
    }
    const auto found = find(key);
    if (!found || found->value != *expected) return false;
    if (found->cas == 0)
      throw Error(ErrorKind::Unavailable, name() + ": the server has no cas: start it without -C");
    return has_happened(memcached_cas(client(), key.data(), key.size(), value.data(), value.size(), kNever,
                                      kNoFlags, found->cas),
                        key);
  }

  void remove_many(std::span<const std::string> keys) override {
    for (const std::string& key : keys)
      has_happened(memcached_delete(client(), key.data(), key.size(), kNever), key);
  }

 private:
  // Connects with the first command.
  memcached_st* client() {
    if (client_) return client_.get();
    client_ = {memcached_create(nullptr), memcached_free};
    if (!client_) throw std::bad_alloc();
    check(memcached_set_memory_allocators(client_.get(), take_memory, free_memory, resize_memory, take_zeroed,
                                          nullptr));
    const auto set = [this](memcached_behavior_t behavior, std::uint64_t value) {
      check(memcached_behavior_set(client_.get(), behavior, value));
    };
    const auto milliseconds = static_cast<std::uint64_t>(timeout_.count());
    set(MEMCACHED_BEHAVIOR_CONNECT_TIMEOUT, milliseconds);
    set(MEMCACHED_BEHAVIOR_POLL_TIMEOUT, milliseconds);
    set(MEMCACHED_BEHAVIOR_SND_TIMEOUT, milliseconds * 1000);
    set(MEMCACHED_BEHAVIOR_RCV_TIMEOUT, milliseconds * 1000);
    set(MEMCACHED_BEHAVIOR_TCP_NODELAY, 1);
    set(MEMCACHED_BEHAVIOR_SUPPORT_CAS, 1);
    set(MEMCACHED_BEHAVIOR_KETAMA, 1);
    if (url_.hosts.empty()) check(memcached_server_add_unix_socket(client_.get(), url_.path.c_str()));
    for (const auto& [host, port] : url_.hosts) {
      const int used_port = port == 0 ? kMemcachedPort : port;
      check(memcached_server_add(client_.get(), host.c_str(), static_cast<in_port_t>(used_port)));
    }
    return client_.get();
  }

  // Asks the server of the key, which says whether it has the record. libmemcached 1.1 reports an error reply
  // as a missing record if the result counts nothing yet: memcached_get() does, this result does not.
  std::optional<Item> find(const std::string& key) {
    const char* asked = key.data();
    const std::size_t size = key.size();
    check(memcached_mget(client(), &asked, &size, 1), key);
    const auto kept = client_;  // longer than its result, even if check() drops it
    memcached_result_st made;
    const Result result{memcached_result_create(client(), &made)};
    if (!result) throw std::bad_alloc();
    result->count = 1;
    memcached_return_t code = MEMCACHED_SUCCESS;
    const bool is_there = memcached_fetch_result(client(), result.get(), &code) != nullptr;
    if (!is_there && code == MEMCACHED_END) return std::nullopt;
    if (code == MEMCACHED_SERVER_MEMORY_ALLOCATION_FAILURE) code = MEMCACHED_SERVER_ERROR;  // nothing is full
    check(is_there || code != MEMCACHED_SUCCESS ? code : MEMCACHED_UNKNOWN_READ_FAILURE, key);
    const std::string_view found(memcached_result_key_value(result.get()),
                                 memcached_result_key_length(result.get()));
    if (found != key) check(MEMCACHED_PROTOCOL_ERROR, key);
    std::string value(memcached_result_value(result.get()), memcached_result_length(result.get()));
    const std::uint64_t cas = memcached_result_cas(result.get());
    const bool is_answered_again = memcached_fetch_result(client(), result.get(), &code) != nullptr;
    if (is_answered_again || code != MEMCACHED_END)
      check(is_answered_again || code == MEMCACHED_SUCCESS ? MEMCACHED_PROTOCOL_ERROR : code, key);
    if (value.size() > kMaxValueBytes) throw_too_large(name(), key);
    return Item{std::move(value), cas};
  }

  // False if the server says that the record is missing, is there already, or has changed.
  bool has_happened(memcached_return_t code, const std::string& key) {
    if (code == MEMCACHED_NOTFOUND || code == MEMCACHED_NOTSTORED || code == MEMCACHED_DATA_EXISTS)
      return false;
    check(code, key);
    return true;
  }

  // Throws the exception that fits the code, and connects anew next time.
  void check(memcached_return_t code, const std::string& key = "") {
    if (code == MEMCACHED_SUCCESS) return;
    const auto client = std::move(client_);
    const std::string message =
        (key.empty() ? name() : name() + ": " + key) + ": " + reason_of(client.get(), code, key);
    switch (code) {
      case MEMCACHED_E2BIG:
      case MEMCACHED_SERVER_MEMORY_ALLOCATION_FAILURE:
        throw Error(ErrorKind::CannotCreate, message);
      case MEMCACHED_AUTH_PROBLEM:
      case MEMCACHED_AUTH_FAILURE:
        throw Error(ErrorKind::Login, message);
      default:
        throw Error(ErrorKind::Unavailable, message);
    }
  }

  // "cache2:11211 says ..."
  [[nodiscard]] std::string reason_of(const memcached_st* client, memcached_return_t code,
                                      const std::string& key) const {
    std::string reason = words_for(client, code);
    if (url_.hosts.size() < 2 || key.empty()) return reason;
    memcached_return_t ignored = MEMCACHED_SUCCESS;
    const auto* server =
        memcached_server_by_key(const_cast<memcached_st*>(client), key.data(), key.size(), &ignored);
    if (server == nullptr) return reason;
    return std::string(memcached_server_name(server)) + ":" + std::to_string(memcached_server_port(server)) +
           ": " + reason;
  }

  StoreUrl url_;
  std::chrono::milliseconds timeout_;
  std::shared_ptr<memcached_st> client_;
};

}  // namespace

StoreOpener memcached_store_opener(StoreUrl& url) {
  if (!url.user.empty() || url.password) refuse(url, "memcached knows no users");
  if (url.scheme == "memcached+unix") {
    take_socket_path(url);
  } else if (url.hosts.empty() || !url.path.empty()) {
    refuse(url, "must be memcached://host[:port][,host[:port]...]");
  }
  const auto timeout = take_timeout(url);
  return [=](IfMissing /*if_missing*/, Patience /*patience*/) {
    return std::make_unique<MemcachedStore>(url, timeout);
  };
}

}  // namespace keysieve
