#include "tools/stores/store_url.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/base/error.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kMaxPrefixBytes = 64;
constexpr std::chrono::milliseconds kDefaultTimeout{5000};
constexpr std::chrono::hours kMaxTimeout{24};

// libcurl wants a host; stands in where the URL has none.
constexpr std::string_view kNoHost = "localhost";

// A URL that could not be taken apart, without anything that might be a password: what lies before an @,
// unless it can only be a path.
std::string redacted(std::string_view url) {
  const std::string_view scheme = url.substr(0, url.find(':') + 1);
  std::string_view rest = url.substr(scheme.size());
  const std::size_t at = rest.rfind('@');
  std::string shown(scheme);
  if (at != std::string_view::npos && (!rest.starts_with('/') || rest.starts_with("//"))) {
    shown.append("...");
    rest.remove_prefix(at);
  }
  return shown.append(rest.substr(0, rest.find('?')));
}

[[noreturn]] void refuse_text(std::string_view url, const std::string& reason) {
  throw UsageError(redacted(url) + ": " + reason);
}

using Handle = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

struct FreeText {
  void operator()(char* text) const noexcept { curl_free(text); }
};
using CurlText = std::unique_ptr<char, FreeText>;

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

// scheme:/path and scheme://user@/path become scheme://localhost/path and so on; `has_host` tells.
std::string with_host(std::string_view url, std::size_t colon, bool& has_host) {
  std::string_view rest = url.substr(colon + 1);
  if (!rest.starts_with('/')) refuse_text(url, "an absolute path or //host must follow the scheme");
  std::string_view authority;
  if (rest.starts_with("//")) {
    authority = rest.substr(2, std::min(rest.find_first_of("/?#", 2), rest.size()) - 2);
    rest.remove_prefix(2 + authority.size());
  }
  has_host = !authority.empty() && !authority.ends_with('@');
  std::string complete(url.substr(0, colon));
  complete.append("://").append(authority);
  if (!has_host) complete.append(kNoHost);
  return complete.append(rest);
}

std::string decoded(std::string_view text, std::string_view url) {
  int size = 0;
  const CurlText owned(curl_easy_unescape(nullptr, text.data(), static_cast<int>(text.size()), &size));
  if (owned == nullptr) throw std::bad_alloc();
  std::string result(owned.get(), static_cast<std::size_t>(size));
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
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  };
  if (prefix.empty() || prefix.size() > kMaxPrefixBytes ||
      !std::all_of(prefix.begin(), prefix.end(), is_allowed)) {
    refuse(url, "prefix must be 1 to 64 of A-Z, a-z, 0-9, _, . and -");
  }
  return prefix;
}

std::string name_of(const StoreUrl& url) {
  if (url.host.empty() && url.user.empty()) {
    return url.scheme + (url.scheme.find('+') == std::string::npos ? ":" : "://") + url.path;
  }
  std::string name = url.scheme + "://";
  if (!url.user.empty()) name.append(url.user).append("@");
  const bool is_ipv6 = url.host.find(':') != std::string::npos;
  name.append(is_ipv6 ? "[" + url.host + "]" : url.host);
  if (url.port != 0) name.append(":").append(std::to_string(url.port));
  return name.append(url.path);
}

}  // namespace

StoreUrl parse_store_url(const std::string& url) {
  const std::size_t colon = url.find(':');
  if (colon == std::string::npos) refuse_text(url, "is not the URL of a store");
  bool has_host = false;
  const std::string complete = with_host(url, colon, has_host);

  const Handle handle(curl_url(), &curl_url_cleanup);
  if (handle == nullptr) throw std::bad_alloc();
  const CURLUcode code = curl_url_set(handle.get(), CURLUPART_URL, complete.c_str(),
                                      CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS | CURLU_ALLOW_SPACE);
  if (code != CURLUE_OK) refuse_text(url, curl_url_strerror(code));
  const auto part = [&](CURLUPart which) { return part_of(handle, which, CURLU_URLDECODE, url); };
  if (part(CURLUPART_FRAGMENT)) refuse_text(url, "# must be written as %23");

  StoreUrl parsed;
  parsed.scheme = url.substr(0, colon);
  parsed.user = part(CURLUPART_USER).value_or("");
  parsed.password = part(CURLUPART_PASSWORD);
  if (has_host) parsed.host = part(CURLUPART_HOST).value_or("");
  if (parsed.host.starts_with('[')) parsed.host = parsed.host.substr(1, parsed.host.size() - 2);
  if (const auto port = part(CURLUPART_PORT)) {
    std::from_chars(port->data(), port->data() + port->size(), parsed.port);
  }
  parsed.path = part(CURLUPART_PATH).value_or("");
  if (parsed.path == "/") parsed.path.clear();
  // An unencoded slash in a password would otherwise end up in the path and be shown.
  if (has_host && parsed.path.find('@') != std::string::npos) {
    refuse_text(url, "/ and @ in a password must be written as %2F and %40");
  }
  parsed.name = name_of(parsed);
  parsed.parameters = parameters_of(part_of(handle, CURLUPART_QUERY, 0, url).value_or(""), url);
  parsed.prefix = checked_prefix(parsed, take_parameter(parsed, "prefix").value_or("keysieve"));
  return parsed;
}

void refuse(const StoreUrl& url, const std::string& reason) {
  throw UsageError(url.name + ": " + reason);
}

std::optional<std::string> take_parameter(StoreUrl& url, const std::string& name) {
  const auto node = url.parameters.extract(name);
  return node.empty() ? std::nullopt : std::optional(node.mapped());
}

std::chrono::milliseconds take_timeout(StoreUrl& url) {
  const auto text = take_parameter(url, "timeout");
  if (!text) return kDefaultTimeout;
  try {
    const std::chrono::milliseconds timeout = parse_duration(*text);
    if (timeout.count() > 0 && timeout <= kMaxTimeout) return timeout;
  } catch (const UsageError& error) {
    refuse(url, std::string("timeout ") + error.what());
  }
  refuse(url, "timeout must be above 0 and at most a day");
}

void refuse_other_parameters(const StoreUrl& url) {
  if (!url.parameters.empty()) {
    refuse(url, "parameter " + url.parameters.begin()->first + " is not known to this store");
  }
}

std::string take_folder(StoreUrl& url) {
  if (!url.host.empty() || !url.user.empty() || url.password || url.path.empty()) {
    refuse(url, "must be " + url.scheme + ":/path/to/folder");
  }
  return url.path;
}

}  // namespace keysieve
