// A store's URL taken apart by libcurl's parser, and what each kind of store makes of it: every store's file
// defines one of the openers below, and store.cpp names it next to its schemes.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/stores/store.hpp"

namespace keysieve {

struct StoreHost {
  std::string name;  // IPv6 addresses without brackets
  int port = 0;      // 0: not given

  friend bool operator==(const StoreHost&, const StoreHost&) = default;
};

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

// Throws Usage, which never shows what might be a password.
StoreUrl parse_store_url(const std::string& url);

// Throws Usage "<url without password>: <reason>".
[[noreturn]] void refuse(const StoreUrl& url, const std::string& reason);

// A parameter is taken by the store that knows it; what nobody has taken is refused.
std::optional<std::string> take_parameter(StoreUrl& url, const std::string& name);
std::optional<std::chrono::milliseconds> take_duration(StoreUrl& url,
                                                       const std::string& name);  // up to a day
std::chrono::milliseconds take_timeout(StoreUrl& url);
void refuse_other_parameters(const StoreUrl& url);

// The path of a file that holds a secret; nothing without the parameter.
std::optional<std::string> take_secret_file(StoreUrl& url, const std::string& name);
// The first line of that file. `what` it holds, "password" for example, is for the message. Throws Login when
// it cannot be read.
std::string read_secret_file(const std::string& store_name, const std::string& what, const std::string& path);

// The folder of a store that is a path alone.
std::string take_folder(StoreUrl& url);
// The path of the server's unix socket, of a store that is a path alone.
std::string take_socket_path(const StoreUrl& url);

// Throw Usage for what is wrong with the URL itself; nothing is opened or read before the opener is
// called.
StoreOpener dir_store_opener(StoreUrl url);
StoreOpener lmdb_store_opener(StoreUrl url);
StoreOpener redis_store_opener(StoreUrl url);
StoreOpener memcached_store_opener(StoreUrl url);
StoreOpener http_store_opener(StoreUrl url);

}  // namespace keysieve
