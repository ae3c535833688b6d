#include "tools/stores/store_url.hpp"

#include <curl/curl.h>
#include <fmt/core.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "core/builder/base/file_io.hpp"
#include "core/worker/base/bytes.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/mapped_region.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kMaxPrefixBytes = 64;
constexpr std::chrono::milliseconds kDefaultTimeout{5000};
constexpr std::chrono::hours kMaxDuration{24};

// libcurl wants a host; stands in where the URL has none.
constexpr std::string_view kNoHost = "localhost";

// Whether every colon is followed by a port.
bool has_ports_alone(std::string_view hosts) {
  for (std::size_t colon = hosts.find(':'); colon != std::string_view::npos; colon = hosts.find(':')) {
    hosts.remove_prefix(colon + 1);
    const std::size_t end = std::min(hosts.find_first_not_of("0123456789"), hosts.size());
    if (end == 0 || (end < hosts.size() && hosts.find_first_of(",/?#", end) != end)) return false;
  }
  return true;
}

// A path, unless it may be the rest of a URL with too few or too many slashes.
std::string shown_path(std::string_view path) {
  const std::size_t at = path.rfind('@');
  if (at == std::string_view::npos || path.find(':') > at) return std::string(path);
  return "..." + std::string(path.substr(at));
}

// A URL that could not be taken apart, without anything that might be a password: what lies before an @,
// unless it can only be a path, and all of it where the @ has been forgotten.
std::string redacted(std::string_view url) {
  const std::string_view scheme = url.substr(0, url.find(':') + 1);
  const std::string_view rest = url.substr(scheme.size());
  const std::string_view shown = rest.substr(0, std::max(rest.find('?'), rest.rfind('@') + 1));
  const std::size_t at = shown.rfind('@');
  if (shown.starts_with('/') && !shown.starts_with("//")) return std::string(scheme) + shown_path(shown);
  if (at != std::string_view::npos) return std::string(scheme) + "..." + std::string(shown.substr(at));
  return std::string(scheme).append(has_ports_alone(shown) ? shown : "...");
}

[[noreturn]] void refuse_text(std::string_view url, const std::string& reason) {
  throw Error(ErrorKind::Usage, redacted(url) + ": " + reason);
}

using Handle = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

using CurlText = std::unique_ptr<char, decltype([](char* text) { curl_free(text); })>;

// Nothing when the URL has no such part.
std::optional<std::string> part_of(const Handle& handle, CURLUPart part, unsigned flags,
                                   std::string_view url) {
  char* text = nullptr;
  const CURLUcode code = curl_url_get(handle.get(), part, &text, flags);
  const CurlText owned(text);
  if (code == CURLUE_OK) return std::string(text);
  if (code == CURLUE_URLDECODE) refuse_text(url, "a control character is encoded in it");
  return std::nullopt;
}

// A URL for libcurl, which accepts one host.
struct OneHostUrl {
  std::string text;  // scheme:/path and scheme://user@/path with a host that stands in
  bool has_host = false;
  std::vector<std::string> further_hosts{};
};

OneHostUrl with_one_host(std::string_view url, std::size_t colon) {
  std::string_view rest = url.substr(colon + 1);
  if (!rest.starts_with('/')) refuse_text(url, "an absolute path or //host must follow the scheme");
  std::string_view authority;
  if (rest.starts_with("//")) {
    authority = rest.substr(2, std::min(rest.find_first_of("/?#", 2), rest.size()) - 2);
    rest.remove_prefix(2 + authority.size());
  }
  const std::size_t hosts_at = authority.rfind('@') + 1;  // 0 without one
  const std::size_t first_end = std::min(authority.find(',', hosts_at), authority.size());
  OneHostUrl one;
  for (std::string_view hosts = authority.substr(first_end); !hosts.empty();) {
    const std::size_t end = std::min(hosts.find(',', 1), hosts.size());
    one.further_hosts.emplace_back(hosts.substr(1, end - 1));
    hosts.remove_prefix(end);
  }
  one.has_host = first_end > hosts_at;
  one.text = std::string(url.substr(0, colon)).append("://").append(authority.substr(0, first_end));
  if (!one.has_host) one.text.append(kNoHost);
  one.text.append(rest);
  return one;
}

Handle parsed_by_libcurl(const std::string& text, std::string_view url) {
  Handle handle(curl_url(), &curl_url_cleanup);
  if (handle == nullptr) throw std::bad_alloc();
  const CURLUcode code = curl_url_set(handle.get(), CURLUPART_URL, text.c_str(),
                                      CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS | CURLU_ALLOW_SPACE);
  if (code != CURLUE_OK) refuse_text(url, curl_url_strerror(code));
  return handle;
}

StoreHost host_of(const Handle& handle, std::string_view url) {
  StoreHost host{part_of(handle, CURLUPART_HOST, CURLU_URLDECODE, url).value_or("")};
  if (host.name.starts_with('[')) host.name = host.name.substr(1, host.name.size() - 2);
  if (const auto port = part_of(handle, CURLUPART_PORT, CURLU_URLDECODE, url)) {
    std::from_chars(port->data(), port->data() + port->size(), host.port);
  }
  return host;
}

std::string decoded(std::string_view text, std::string_view url) {
  std::string result = percent_decoded(text);
  if (result.find('\0') != std::string::npos) refuse_text(url, "a NUL is encoded in it");
  return result;
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
  const CurlText owned(curl_easy_unescape(nullptr, text.data(), static_cast<int>(text.size()), &size));
  if (owned == nullptr) throw std::bad_alloc();
  return {owned.get(), static_cast<std::size_t>(size)};
}

StoreUrl parse_store_url(const std::string& url) {
  // libcurl would take what stands before it for the whole URL.
  if (url.find('\0') != std::string::npos) throw Error(ErrorKind::Usage, "a store's URL with a NUL in it");
  const std::size_t colon = url.find(':');
  if (colon == std::string::npos) refuse_text(url, "is not the URL of a store");
  const OneHostUrl one = with_one_host(url, colon);
  const Handle handle = parsed_by_libcurl(one.text, url);
  const auto part = [&](CURLUPart which) { return part_of(handle, which, CURLU_URLDECODE, url); };
  if (part(CURLUPART_FRAGMENT)) refuse_text(url, "# must be written as %23");

  StoreUrl parsed;
  parsed.scheme = url.substr(0, colon);
  parsed.user = part(CURLUPART_USER).value_or("");
  parsed.password = part(CURLUPART_PASSWORD);
  if (one.has_host) parsed.hosts.push_back(host_of(handle, url));
  for (const std::string& further : one.further_hosts) {
    if (parsed.hosts.empty() || further.empty()) refuse_text(url, "a host is missing next to a comma");
    parsed.hosts.push_back(host_of(parsed_by_libcurl(parsed.scheme + "://" + further, url), url));
  }
  parsed.path = part(CURLUPART_PATH).value_or("");
  if (parsed.path == "/") parsed.path.clear();
  // An unencoded slash in a password would otherwise end up in the path and be shown.
  if (one.has_host && parsed.path.find('@') != std::string::npos) {
    refuse_text(url, "/ and @ in a password must be written as %2F and %40");
  }
  parsed.name = name_of(parsed);
  const std::string query = part_of(handle, CURLUPART_QUERY, 0, url).value_or("");
  // Nor may an unencoded ? make parameters of it, whose names and values are shown.
  if (query.find('@') != std::string::npos) {
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

void refuse_other_parameters(const StoreUrl& url) {
  if (!url.parameters.empty()) {
    refuse(url, "parameter " + url.parameters.begin()->first + " is not known to this store");
  }
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
