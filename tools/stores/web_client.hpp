// Reads files from one web server, by libcurl: several at once, over connections that are kept. Used by the
// http store, which knows what the files are.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/stores/store_url.hpp"

namespace keysieve {

struct WebClientSettings {
  std::string name;                     // of the store: for messages
  std::string origin;                   // scheme, host and port
  std::string folder;                   // begins and ends with a slash; not encoded
  std::chrono::milliseconds timeout{};  // to connect, and for each 64 KiB of an answer
  bool is_encrypted = false;            // then redirects are followed to https alone
  std::string authorization{};          // the header's value, never shown; empty: none
  TlsFiles tls{};
};

struct WebRequest {
  std::string file_name;
  std::size_t max_bytes;
  std::string etag{};          // of the copy that is here already; empty: none
  bool may_be_cached = false;  // by whatever is between: the file never changes
};

struct WebAnswer {
  enum class Status { Found, NotModified, Missing };

  Status status = Status::Missing;
  std::string body{};
  std::string etag{};
};

// One thread.
class WebClient {
 public:
  virtual ~WebClient() = default;

  // answers[i] belongs to requests[i]. Takes 100 s at the longest. Throws, naming the file: Unavailable if
  // the server does not answer as it should, Login for 401 and 407, Permission for 403, Data for a file above
  // the limit.
  virtual std::vector<WebAnswer> get(std::span<const WebRequest> requests) = 0;
};

std::unique_ptr<WebClient> make_web_client(WebClientSettings settings);

}  // namespace keysieve
