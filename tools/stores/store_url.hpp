// A store's URL taken apart, for the openers of the stores.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/worker/base/error.hpp"
#include "tools/program/units.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

inline constexpr std::uint64_t kMaxPort = 65535;

struct StoreHost {
  std::string name;  // IPv6 addresses without brackets
  int port = 0;      // 0: not given

  friend auto operator<=>(const StoreHost&, const StoreHost&) = default;
};
// "name:port", or "[address]:port"; without a port that is 0.
std::string to_text(const StoreHost& host);

struct StoreUrl {
  std::string scheme;
  std::string user;                     // empty: none
  std::optional<std::string> password;  // never shown
  std::vector<StoreHost> hosts;         // none for scheme:/path
  std::string path;                     // decoded, begins with a slash, or empty
  std::string prefix;
  std::map<std::string, std::string> parameters;  // what follows the question mark, but for the prefix
  std::string name;                               // without password and query
};

// An ASCII letter, a digit, or one of `others`.
bool is_plain(char c, std::string_view others) noexcept;
// %XX for every byte that is not plain.
std::string percent_encoded(std::string_view text, std::string_view others);
std::string percent_decoded(std::string_view text);

// Throws Usage, which never shows what might be a password.
StoreUrl parse_store_url(const std::string& url);

// Throws Usage "<url without password>: <reason>".
[[noreturn]] inline void refuse(const StoreUrl& url, const std::string& reason) {
  throw Error(ErrorKind::Usage, url.name + ": " + reason);
}

// What `parse` returns; refuses the URL with `subject` and the reason if that throws Usage.
template <typename Parse>
auto or_refuse(const StoreUrl& url, const std::string& subject, const Parse& parse) {
  try {
    return parse();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Usage) throw;
    refuse(url, subject + error.what());
  }
}

// Each store takes the parameters that it knows; opener_of() refuses any that are left.
std::optional<std::string> take_parameter(StoreUrl& url, const std::string& name);
std::optional<std::chrono::milliseconds> take_duration(StoreUrl& url,
                                                       const std::string& name);  // up to a day
std::chrono::milliseconds take_timeout(StoreUrl& url);

// The path of a file that holds a secret; nothing without the parameter.
std::optional<std::string> take_secret_file(StoreUrl& url, const std::string& name);
// The first line of that file, or without one the value of the environment's variable; empty: none. `what` it
// is, "password" for example, is for the message. Throws Login when the file cannot be read.
std::string read_secret(const StoreUrl& url, const std::string& what, const std::optional<std::string>& path,
                        const char* variable);

// Paths of PEM files; empty: none.
struct TlsFiles {
  std::string ca_file;    // signs the servers' certificates; none: the authorities of this host
  std::string cert_file;  // our certificate, and its key: both or none
  std::string key_file;
};
TlsFiles take_tls_files(StoreUrl& url);

// The folder of a store that is a path alone.
std::string take_folder(StoreUrl& url);
// The path of the server's unix socket, of a store that is a path alone.
std::string take_socket_path(const StoreUrl& url);

}  // namespace keysieve
