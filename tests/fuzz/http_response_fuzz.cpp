// Whatever a web server responds, its client and its store return what the bytes say, or an Error that names
// the file. Input: the responses, one for each connection.
#include <netdb.h>
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
#include "tools/stores/web_client.hpp"

// In place of the C library's own, for libcurl. No name leads anywhere.
extern "C" {
int connect(int socket, const sockaddr* /*address*/, socklen_t /*size*/) {
  return keysieve::fuzz::canned_connections().connect(socket);
}
int getaddrinfo(const char* /*host*/, const char* /*service*/, const addrinfo* /*hints*/,
                addrinfo** /*result*/) {
  return EAI_NONAME;
}
}

namespace keysieve::fuzz {
namespace {

const std::string kUrl = "http://127.0.0.1/folder";
const std::string kLog = "keysieve:tags:adds";
const std::array<std::string, 2> kKeys{"keysieve:tags:current", "keysieve:tags:chunk"};
constexpr std::size_t kMaxBytes = 64;
constexpr std::size_t kMostEntries = 3;
// Three redirects, and libcurl tries once more where a connection that it has kept is gone.
constexpr std::size_t kMostConnections = 2 * (1 + 3);

// A body may come in chunks.
bool is_spread_over(std::string_view body, std::string_view responses) {
  for (const char byte : body) {
    const std::size_t at = responses.find(byte);
    if (at == std::string_view::npos) return false;
    responses.remove_prefix(at + 1);
  }
  return true;
}

bool says_missing(std::string_view responses) {
  return responses.find("404") != std::string_view::npos || responses.find("410") != std::string_view::npos;
}

void check_value(const std::optional<std::string>& value, std::string_view responses) {
  check(value ? is_spread_over(*value, responses) : says_missing(responses));
}

void ask_client(std::string_view responses, const std::string& etag) {
  const auto client = make_web_client(
      {.name = kUrl, .origin = "http://127.0.0.1", .folder = "/folder/", .timeout = std::chrono::seconds(5)});
  const WebRequest request{.file_name = "file", .max_bytes = kMaxBytes, .etag = etag};
  const WebAnswer answer = client->get(std::span(&request, 1)).front();
  check(canned_connections().count() <= kMostConnections);
  check(is_spread_over(answer.etag, responses));
  switch (answer.status) {
    case WebAnswer::Status::Found:
      return check(answer.body.size() <= kMaxBytes && is_spread_over(answer.body, responses));
    case WebAnswer::Status::NotModified:
      return check(answer.body.empty() && !etag.empty());
    case WebAnswer::Status::Missing:
      return check(answer.body.empty() && says_missing(responses));
  }
}

// As a refresh does. The second store knows what the first has read.
void ask_stores(std::string_view responses) {
  const StoreOpener open = opener_of(kUrl);
  for (int i = 0; i < 2; ++i) {
    const auto store = open(IfMissing::Create, Patience::None);
    succeeds(kUrl, [&] {
      for (const auto& value : store->get_many(kKeys)) check_value(value, responses);
    });
    succeeds(kUrl, [&] {
      const std::vector<LogEntry> entries = store->read_after(kLog, {}, kMostEntries);
      check(entries.size() <= kMostEntries);
      for (const LogEntry& entry : entries) check(is_spread_over(entry.key, responses));
      static_cast<void>(store->facts_of(kLog));
    });
    succeeds(kUrl, [&] {
      for (const auto& value : store->get_immutable(kKeys)) check_value(value, responses);
    });
  }
}

}  // namespace
}  // namespace keysieve::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace keysieve::fuzz;
  const std::string_view responses(reinterpret_cast<const char*>(data), size);
  for (const char* etag : {"", "\"1\""}) {
    canned_connections().answer_with(responses);
    succeeds(kUrl, [&] { ask_client(responses, etag); });
  }
  canned_connections().answer_with(responses);
  ask_stores(responses);
  return 0;
}
