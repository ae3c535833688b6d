// A store's URL is taken apart or refused with a reason, and neither shows its password. Input: a URL, which
// is tried as it is; then, up to a line feed, what stands before the password, and what stands behind it.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/worker/base/error.hpp"
#include "tests/fuzz/check.hpp"
#include "tools/stores/store_url.hpp"

namespace keysieve {
namespace {

constexpr std::string_view kPassword = "hunter2";
constexpr int kMostPorts = 65535;
constexpr std::size_t kMaxPrefix = 64;

using fuzz::check;

bool shows_password(std::string_view text) {
  return text.find(kPassword) != std::string_view::npos;
}

void check_parts(const StoreUrl& url) {
  check(!url.name.empty() && url.name.starts_with(url.scheme));
  check(url.path.empty() || url.path.starts_with('/'));
  check(!url.prefix.empty() && url.prefix.size() <= kMaxPrefix);
  for (const StoreHost& host : url.hosts)
    check(host.port >= 0 && host.port <= kMostPorts &&
          host.name.find_first_of("/@%?# ") == std::string::npos);
}

// `has_password`: the URL holds it, so no message may.
void open(const std::string& url, bool has_password) {
  const auto is_refused = [has_password](const auto& work) {
    try {
      work();
      return false;
    } catch (const Error& error) {
      check(error.kind() == ErrorKind::Usage && std::string_view(error.what()).size() > 2);
      check(!has_password || !shows_password(error.what()));
      return true;
    }
  };
  static_cast<void>(is_refused([&] { static_cast<void>(absolute_store_url(url)); }));
  const bool is_refused_by_store = is_refused([&] { check_store_url(url); });
  const bool is_refused_by_parser = is_refused([&] {
    const StoreUrl parsed = parse_store_url(url);
    check_parts(parsed);
    check(!has_password || !shows_password(parsed.name));
  });
  check(is_refused_by_store || !is_refused_by_parser);
  if (is_refused_by_store || !is_store_url(url)) return check(is_refused_by_store);
  for (const StoreUse use : {StoreUse::Write, StoreUse::Append, StoreUse::Bypass, StoreUse::List})
    static_cast<void>(is_refused([&] { check_store_can(use, url); }));
}

// What stands between a colon and an @ might be a password, wherever that is. So might what follows a colon
// in the place of the hosts, if the @ was forgotten.
void open_with_password(std::string_view before, std::string_view behind) {
  const std::size_t scheme = before.find(':');
  if (scheme == std::string_view::npos || shows_password(before) || shows_password(behind)) return;
  const std::string until(before);
  open(until + ":" + std::string(kPassword) + "@" + std::string(behind), true);
  open(until + ":" + std::string(kPassword) + std::string(behind) + "@host", true);
  if (before.substr(scheme + 1).starts_with("//") &&
      before.find_first_of("/?#@", scheme + 3) == std::string_view::npos &&
      behind.find('@') == std::string_view::npos) {
    open(until + ":" + std::string(kPassword) + std::string(behind), true);
  }
}

}  // namespace
}  // namespace keysieve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  keysieve::open(std::string(input), false);
  const std::string_view before = input.substr(0, input.find('\n'));
  keysieve::open_with_password(before, input.substr(std::min(before.size() + 1, size)));
  return 0;
}
