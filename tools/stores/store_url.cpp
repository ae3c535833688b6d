#include "tools/stores/store_url.hpp"

#include <curl/curl.h>
#include <fmt/core.h>
#include <sys/un.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "core/builder/base/file_io.hpp"
#include "core/worker/base/bytes.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/mapped_region.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kMaxPrefixBytes = 64;
constexpr std::chrono::milliseconds kDefaultTimeout{5000};
constexpr std::chrono::hours kMaxDuration{24};
constexpr const char* kEncodeInPassword = "/ and @ in a password must be written as %2F and %40";

// A path, unless it may be the rest of a URL with too few or too many slashes.
std::string shown_path(std::string_view path) {
  const std::size_t at = path.rfind('@');
  if (at == std::string_view::npos || path.find(':') > at) return std::string(path);
  return "..." + std::string(path.substr(at));
}

// A URL that could not be taken apart: what follows its scheme may be a password, unless it can only be a
// path.
std::string redacted(std::string_view url) {
  const std::size_t rest = url.find(':') + 1;
  const std::string_view path = url.substr(rest, std::max(url.find('?'), url.rfind('@') + 1) - rest);
  const bool is_path = path.starts_with('/') && !path.starts_with("//");
  return std::string(url.substr(0, rest)) + (is_path ? shown_path(path) : "...");
}

[[noreturn]] void refuse_text(std::string_view url, const std::string& reason) {
  throw Error(ErrorKind::Usage, redacted(url) + ": " + reason);
}

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < ' '; });
}

std::string decoded(std::string_view text, std::string_view url) {
  std::string result = percent_decoded(text);
  if (has_control_character(result)) refuse_text(url, "a control character is encoded in it");
  return result;
}

// Of "name", "name:port", or the same with [an IPv6 address]. Nothing is decoded: a host with a slash or an @
// would be another one for whoever connects to it.
StoreHost host_of(std::string_view text, std::string_view url) {
  const bool is_address = text.starts_with('[');
  const std::size_t begin = is_address ? 1 : 0;
  const std::size_t end = text.find(is_address ? ']' : ':');
  StoreHost host{std::string(text.substr(begin, std::min(end, text.size()) - begin))};
  const auto is_of_host = [&](char c) { return is_plain(c, is_address ? ":." : "-_.") || (c & 0x80) != 0; };
  if (host.name.empty() || !std::ranges::all_of(host.name, is_of_host) || (is_address && end > text.size()))
    refuse_text(url, "a host must be a name of letters, digits, -, _ and dots, or an [IPv6 address]");
  const std::string_view rest = text.substr(std::min(end, text.size()));
  if (rest.size() == begin) return host;
  const auto port = whole_number(rest.substr(begin + 1), kMaxPort);
  if (rest[begin] != ':' || !port)
    refuse_text(url, "a port must be a number up to " + std::to_string(kMaxPort));
  host.port = static_cast<int>(*port);
  return host;
}

// What stands between the slashes behind the scheme and the path.
void take_authority(StoreUrl& parsed, std::string_view authority, std::string_view url) {
  const std::size_t hosts_at = authority.rfind('@') + 1;  // 0 without one
  if (hosts_at != 0) {
    const std::string_view login = authority.substr(0, hosts_at - 1);
    const std::string_view user = login.substr(0, login.find(':'));
    if (login.find('@') != std::string_view::npos) refuse_text(url, kEncodeInPassword);
    parsed.user = decoded(user, url);
    if (user.size() < login.size()) parsed.password = decoded(login.substr(user.size() + 1), url);
  }
  for (std::size_t begin = hosts_at; hosts_at < authority.size() && begin <= authority.size();) {
    const std::size_t end = std::min(authority.find(',', begin), authority.size());
    parsed.hosts.push_back(host_of(authority.substr(begin, end - begin), url));
    begin = end + 1;
  }
}

std::map<std::string, std::string> parameters_of(std::string_view query, std::string_view url) {
  std::map<std::string, std::string> parameters;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) refuse_text(url, "a parameter after ? must be name=value");
    const std::string name = decoded(pair.substr(0, equals), url);
    if (!parameters.emplace(name, decoded(pair.substr(equals + 1), url)).second) {
      refuse_text(url, "parameter " + name + " is given twice");
    }
  }
  return parameters;
}

std::string checked_prefix(const StoreUrl& url, std::string prefix) {
  const auto is_allowed = [](char c) { return is_plain(c, "_.-"); };
  if (prefix.empty() || prefix.size() > kMaxPrefixBytes ||
      !std::all_of(prefix.begin(), prefix.end(), is_allowed)) {
    refuse(url, "prefix must be 1 to 64 of A-Z, a-z, 0-9, _, . and -");
  }
  return prefix;
}

std::string name_of(const StoreUrl& url) {
  if (url.hosts.empty() && url.user.empty()) {
    return url.scheme + (url.scheme.find('+') == std::string::npos ? ":" : "://") + shown_path(url.path);
  }
  std::string name = url.scheme + "://";
  if (!url.user.empty()) name.append(url.user).append("@");
  for (const StoreHost& host : url.hosts) {
    name.append(&host == &url.hosts.front() ? "" : ",").append(to_text(host));
  }
  return name.append(url.hosts.empty() ? shown_path(url.path) : url.path);
}

}  // namespace

bool is_plain(char c, std::string_view others) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         others.find(c) != std::string_view::npos;
}

std::string percent_encoded(std::string_view text, std::string_view others) {
  std::string result;
  for (const char c : text)
    result += is_plain(c, others) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return result;
}

std::string to_text(const StoreHost& host) {
  const bool is_ipv6 = host.name.find(':') != std::string::npos;
  const std::string port = host.port == 0 ? "" : ":" + std::to_string(host.port);
  return (is_ipv6 ? "[" + host.name + "]" : host.name) + port;
}

std::string percent_decoded(std::string_view text) {
  if (text.empty()) return {};  // libcurl takes it for a text that ends with NUL
  int size = 0;
  const std::unique_ptr<char, decltype(&curl_free)> owned(
      curl_easy_unescape(nullptr, text.data(), static_cast<int>(text.size()), &size), curl_free);
  if (owned == nullptr) throw std::bad_alloc();
  return {owned.get(), static_cast<std::size_t>(size)};
}

StoreUrl parse_store_url(const std::string& url) {
  if (has_control_character(url))
    throw Error(ErrorKind::Usage, "a store's URL with a control character in it");
  const std::size_t colon = url.find(':');
  if (colon == std::string::npos) refuse_text(url, "is not the URL of a store");
  const std::string_view rest = std::string_view(url).substr(colon + 1);
  if (!rest.starts_with('/')) refuse_text(url, "an absolute path or //host must follow the scheme");
  if (rest.find('#') != std::string_view::npos) refuse_text(url, "# must be written as %23");
  std::string_view path = rest.substr(0, rest.find('?'));
  const std::string_view query = rest.substr(std::min(path.size() + 1, rest.size()));

  StoreUrl parsed;
  parsed.scheme = url.substr(0, colon);
  if (path.starts_with("//")) {
    const std::size_t end = std::min(path.find('/', 2), path.size());
    take_authority(parsed, path.substr(2, end - 2), url);
    path.remove_prefix(end);
  }
  // An unencoded slash in a password would otherwise end up in the path and be shown.
  if (!parsed.hosts.empty() && path.find('@') != std::string_view::npos) refuse_text(url, kEncodeInPassword);
  parsed.path = path == "/" ? "" : decoded(path, url);
  parsed.name = name_of(parsed);
  // Nor may an unencoded ? make parameters of it, whose names and values are shown.
  if (query.find('@') != std::string_view::npos) {
    refuse_text(url, "? in a password must be written as %3F, and @ in a parameter as %40");
  }
  parsed.parameters = parameters_of(query, url);
  parsed.prefix = checked_prefix(parsed, take_parameter(parsed, "prefix").value_or("keysieve"));
  return parsed;
}

std::optional<std::string> take_parameter(StoreUrl& url, const std::string& name) {
  const auto node = url.parameters.extract(name);
  return node.empty() ? std::nullopt : std::optional(node.mapped());
}

std::optional<std::chrono::milliseconds> take_duration(StoreUrl& url, const std::string& name) {
  const auto text = take_parameter(url, name);
  if (!text) return std::nullopt;
  const auto duration = or_refuse(url, name + " ", [&] { return parse_duration(*text); });
  if (duration <= kMaxDuration) return duration;
  refuse(url, name + " must be at most a day");
}

std::chrono::milliseconds take_timeout(StoreUrl& url) {
  const auto timeout = take_duration(url, "timeout").value_or(kDefaultTimeout);
  if (timeout.count() == 0) refuse(url, "timeout must be above 0");
  return timeout;
}

std::optional<std::string> take_secret_file(StoreUrl& url, const std::string& name) {
  auto path = take_parameter(url, name);
  if (path && path->empty()) refuse(url, name + " must name a file");
  if (path && url.password) refuse(url, "give either a password or " + name + ", not both");
  return path;
}

std::string read_secret(const StoreUrl& url, const std::string& what, const std::optional<std::string>& path,
                        const char* variable) {
  if (!path) {
    const char* value = std::getenv(variable);
    return value == nullptr ? "" : value;
  }
  try {
    const MappedRegion file = map_file(*path);
    const std::string_view text = as_text(bytes_of(file));
    return std::string(text.substr(0, text.find_first_of("\r\n")));
  } catch (const Error& error) {
    throw Error(ErrorKind::Login, url.name + ": cannot read the " + what + ": " + error.what());
  }
}

TlsFiles take_tls_files(StoreUrl& url) {
  TlsFiles files{.ca_file = take_parameter(url, "ca_file").value_or(""),
                 .cert_file = take_parameter(url, "cert_file").value_or(""),
                 .key_file = take_parameter(url, "key_file").value_or("")};
  if (files.cert_file.empty() != files.key_file.empty()) refuse(url, "cert_file and key_file go together");
  return files;
}

std::string take_folder(StoreUrl& url) {
  if (!url.hosts.empty() || !url.user.empty() || url.password || url.path.empty()) {
    refuse(url, "must be " + url.scheme + ":/path/to/folder");
  }
  return url.path;
}

std::string take_socket_path(const StoreUrl& url) {
  if (!url.hosts.empty() || url.path.empty()) refuse(url, "must be " + url.scheme + ":///path/to.sock");
  // A client library would cut it short.
  if (url.path.size() >= sizeof(sockaddr_un::sun_path)) {
    refuse(url, "the path of a socket can have " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                    " bytes at most");
  }
  return url.path;
}

}  // namespace keysieve
