// Whatever a memcached server replies, a store returns what the bytes say, or an Error that names it. Input:
// what is asked (three bytes), then the replies.
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/worker/base/error.hpp"
#include "tests/fuzz/canned_connections.hpp"
#include "tools/stores/store.hpp"

// In place of the C library's own, for libmemcached.
extern "C" int connect(int socket, const sockaddr* /*address*/, socklen_t /*size*/) {
  return keysieve::fuzz::canned_connections().connect(socket);
}

namespace keysieve::fuzz {
namespace {

constexpr std::size_t kOperations = 3;
const std::array<std::string, 2> kKeys{"keysieve:tags:current", "keysieve:tags:chunk"};

struct Asked {
  Store& store;
  std::string_view replies;
};

// Two words say that a record is missing: no server says the second one of a value, but libmemcached takes
// it.
void check_value(const Asked& asked, const std::optional<std::string>& value) {
  const auto says = [&](std::string_view text) { return asked.replies.find(text) != std::string_view::npos; };
  check(value ? says(*value) : says("END") || says("NOT_FOUND"));
}

// No writes, which only push, rollback and delete do: libmemcached 1.1.4 ends the process by an assertion
// when the reply to one is that to another command (storage.cc, memcached_send_ascii).
constexpr std::array<void (*)(const Asked&), 2> kAsk{
    [](const Asked& asked) {
      for (const auto& value : asked.store.get_many(kKeys)) check_value(asked, value);
    },
    [](const Asked& asked) { check_value(asked, asked.store.get(kKeys[0])); }};

// libmemcached 1.1.4 copies a key of up to 344 bytes into room for 250 (response.cc, textual_value_fetch).
// docs/stores.md says that only trusted hosts may answer.
bool has_too_long_a_key(std::string_view replies) {
  constexpr std::size_t kLongestKey = 250;
  std::size_t length = 0;
  return std::ranges::any_of(replies, [&](unsigned char byte) {
    length = byte <= ' ' || byte == 0x7f ? 0 : length + 1;
    return length > kLongestKey;
  });
}

}  // namespace
}  // namespace keysieve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace keysieve::fuzz;
  if (size < kOperations) return 0;
  const std::string_view replies(reinterpret_cast<const char*>(data) + kOperations, size - kOperations);
  if (has_too_long_a_key(replies)) return 0;
  canned_connections().answer_with(replies);
  const auto store = keysieve::open_store("memcached+unix:///memcached?timeout=10ms");
  for (std::size_t i = 0; i < kOperations; ++i)
    succeeds(store->name(), [&] { kAsk[data[i] % kAsk.size()]({*store, replies}); });
  return 0;
}
