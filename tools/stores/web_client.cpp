#include "tools/stores/web_client.hpp"

#include <curl/curl.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <list>

#include "core/worker/base/error.hpp"
#include "core/worker/base/version.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kAtOnce = 8;  // each over its own connection, where the server has no HTTP/2
constexpr long kMaxRedirects = 3;
constexpr std::size_t kTimedBytes = std::size_t{64} * 1024;
// For one call of get(): less than WatchdogSec= of keysieved.service.
constexpr std::chrono::seconds kLongestCall{100};

// The answer to one request, as it comes.
struct Download {
  const WebRequest* request = nullptr;
  WebAnswer* answer = nullptr;
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy{curl_easy_init(), curl_easy_cleanup};
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers{nullptr, curl_slist_free_all};
  std::array<char, CURL_ERROR_SIZE> error{};
  bool is_too_large = false;
  bool is_without_memory = false;  // for the body
};

long status_of(const Download& download) {
  long status = 0;
  curl_easy_getinfo(download.easy.get(), CURLINFO_RESPONSE_CODE, &status);
  return status;
}

// No exception may pass through libcurl.
std::size_t take_body(const char* bytes, std::size_t /*one*/, std::size_t size, void* to) noexcept {
  auto& download = *static_cast<Download*>(to);
  if (status_of(download) != 200) return size;  // an error page
  std::string& body = download.answer->body;
  download.is_too_large = body.size() + size > download.request->max_bytes;
  if (download.is_too_large) return CURL_WRITEFUNC_ERROR;
  try {
    body.append(bytes, size);
  } catch (const std::bad_alloc&) {
    download.is_without_memory = true;
    return CURL_WRITEFUNC_ERROR;
  }
  return size;
}

// The last of them; empty without one.
std::string header_of(const Download& download, const char* name) {
  curl_header* header = nullptr;
  const auto find = [&](std::size_t index) {
    return curl_easy_header(download.easy.get(), name, index, CURLH_HEADER, -1, &header) == CURLHE_OK;
  };
  return find(0) && find(header->amount - 1) ? header->value : "";
}

// Otherwise a body that was cut looks whole.
bool has_known_end(const Download& download) {
  long version = 0;
  curl_easy_getinfo(download.easy.get(), CURLINFO_HTTP_VERSION, &version);
  if (version >= CURL_HTTP_VERSION_2_0) return true;
  const std::string codings = header_of(download, "Transfer-Encoding");
  if (codings.empty()) return !header_of(download, "Content-Length").empty();
  const std::string last = codings.substr(codings.find_last_of(", \t") + 1);
  return curl_strequal(last.c_str(), "chunked") != 0;
}

class CurlClient final : public WebClient {
 public:
  explicit CurlClient(WebClientSettings settings)
      : settings_(std::move(settings)), multi_(curl_multi_init(), curl_multi_cleanup) {
    if (!multi_) throw std::bad_alloc();
    // For the next request. Newer versions of curl keep fewer unless they are told.
    check(curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(kAtOnce)));
  }

  std::vector<WebAnswer> get(std::span<const WebRequest> requests) override {
    std::vector<WebAnswer> answers(requests.size());
    std::size_t started = 0;
    const Emptied emptied{*this};
    const auto deadline = std::chrono::steady_clock::now() + kLongestCall;
    while (started < requests.size() || !active_.empty()) {
      for (; started < requests.size() && active_.size() < kAtOnce; ++started) {
        start(requests[started], answers[started]);
      }
      work();
      if (std::chrono::steady_clock::now() > deadline && !active_.empty()) {
        throw Error(ErrorKind::Unavailable,
                    fmt::format("{}: {} of {} files have come within {} s", settings_.name,
                                started - active_.size(), requests.size(), kLongestCall.count()));
      }
    }
    return answers;
  }

 private:
  // Whatever is under way when an exception leaves get() ends with it.
  struct Emptied {
    CurlClient& client;
    ~Emptied() {
      for (const Download& left : client.active_)
        curl_multi_remove_handle(client.multi_.get(), left.easy.get());
      client.active_.clear();
    }
  };

  void start(const WebRequest& request, WebAnswer& answer) {
    Download& download = active_.emplace_back();
    CURL* easy = download.easy.get();
    if (easy == nullptr) throw std::bad_alloc();
    download.request = &request;
    download.answer = &answer;
    set(easy, CURLOPT_ERRORBUFFER, download.error.data());
    set(easy, CURLOPT_URL,
        (settings_.origin + percent_encoded(settings_.folder + request.file_name, "/:@._-~")).c_str());
    set(easy, CURLOPT_USERAGENT, "keysieve/" KEYSIEVE_VERSION);
    set(easy, CURLOPT_WRITEFUNCTION, &take_body);
    set(easy, CURLOPT_WRITEDATA, &download);
    set(easy, CURLOPT_NOSIGNAL, 1L);
    set(easy, CURLOPT_PIPEWAIT, 1L);
    const char* protocols = settings_.is_encrypted ? "https" : "http,https";
    set(easy, CURLOPT_PROTOCOLS_STR, protocols);
    set(easy, CURLOPT_REDIR_PROTOCOLS_STR, protocols);
    set(easy, CURLOPT_FOLLOWLOCATION, 1L);
    set(easy, CURLOPT_MAXREDIRS, kMaxRedirects);
    set_times(easy, request.max_bytes);
    set_tls(easy);
    set_headers(download);
    check(curl_multi_add_handle(multi_.get(), easy));
  }

  void set_times(CURL* easy, std::size_t max_bytes) const {
    const auto timeout = static_cast<long>(settings_.timeout.count());
    const auto pieces = static_cast<long>(max_bytes / kTimedBytes);
    const long seconds = std::max(1L, timeout / 1000);
    set(easy, CURLOPT_CONNECTTIMEOUT_MS, timeout);
    set(easy, CURLOPT_TIMEOUT_MS, timeout * (1 + pieces));
    set(easy, CURLOPT_LOW_SPEED_TIME, seconds);
    set(easy, CURLOPT_LOW_SPEED_LIMIT, std::max(1L, static_cast<long>(kTimedBytes) / seconds));
  }

  void set_tls(CURL* easy) const {
    if (!settings_.tls.ca_file.empty()) set(easy, CURLOPT_CAINFO, settings_.tls.ca_file.c_str());
    if (settings_.tls.cert_file.empty()) return;
    set(easy, CURLOPT_SSLCERT, settings_.tls.cert_file.c_str());
    set(easy, CURLOPT_SSLKEY, settings_.tls.key_file.c_str());
  }

  // libcurl does not send Authorization to another host that a redirect leads to.
  void set_headers(Download& download) const {
    const auto add = [&](const std::string& header) {
      curl_slist* longer = curl_slist_append(download.headers.get(), header.c_str());
      if (longer == nullptr) throw std::bad_alloc();
      static_cast<void>(download.headers.release());
      download.headers.reset(longer);
    };
    const WebRequest& request = *download.request;
    if (!settings_.authorization.empty()) add("Authorization: " + settings_.authorization);
    if (!request.may_be_cached) add("Cache-Control: no-cache");
    if (!request.etag.empty()) add("If-None-Match: " + request.etag);
    set(download.easy.get(), CURLOPT_HTTPHEADER, download.headers.get());
  }

  void work() {
    int running = 0;
    check(curl_multi_perform(multi_.get(), &running));
    int left = 0;
    bool is_any_done = false;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      is_any_done = true;
      finish(message->easy_handle, message->data.result);
    }
    constexpr int kLongestPollMs = 1000;
    if (!is_any_done) check(curl_multi_poll(multi_.get(), nullptr, 0, kLongestPollMs, nullptr));
  }

  void finish(CURL* easy, CURLcode code) {
    const auto done = std::find_if(active_.begin(), active_.end(),
                                   [easy](const Download& download) { return download.easy.get() == easy; });
    const WebRequest& request = *done->request;
    const std::string subject = settings_.origin + settings_.folder + request.file_name;
    if (done->is_too_large) {
      throw Error(ErrorKind::Data, subject + ": is above the limit of " + format_bytes(request.max_bytes));
    }
    if (done->is_without_memory || code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
    if (code != CURLE_OK) {
      const std::string reason = done->error.front() == '\0' ? curl_easy_strerror(code) : done->error.data();
      throw Error(ErrorKind::Unavailable, subject + ": " + reason);
    }
    take_status(*done, subject);
    curl_multi_remove_handle(multi_.get(), easy);
    active_.erase(done);
  }

  static void take_status(Download& download, const std::string& subject) {
    const long status = status_of(download);
    WebAnswer& answer = *download.answer;
    if (status == 404 || status == 410) return;  // Missing
    if (status == 401 || status == 407) {
      throw Error(ErrorKind::Login,
                  fmt::format("{}: the server asks for authorization ({})", subject, status));
    }
    if (status == 403) throw Error(ErrorKind::Permission, subject + ": the server does not allow it (403)");
    const bool is_known = status == 304 && !download.request->etag.empty();
    if (status != 200 && !is_known) {
      throw Error(ErrorKind::Unavailable, fmt::format("{}: the server answered {}", subject, status));
    }
    if (status == 200 && !has_known_end(download)) {
      throw Error(ErrorKind::Unavailable, subject + ": the server does not say how long it is");
    }
    answer.status = is_known ? WebAnswer::Status::NotModified : WebAnswer::Status::Found;
    answer.etag = header_of(download, "ETag");
  }

  template <typename Value>
  static void set(CURL* easy, CURLoption option, Value value) {
    const CURLcode code = curl_easy_setopt(easy, option, value);
    if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
    if (code != CURLE_OK)
      throw Error(ErrorKind::Unavailable, std::string("libcurl: ") + curl_easy_strerror(code));
  }

  void check(CURLMcode code) const {
    if (code == CURLM_OUT_OF_MEMORY) throw std::bad_alloc();
    if (code != CURLM_OK)
      throw Error(ErrorKind::Unavailable, settings_.name + ": " + curl_multi_strerror(code));
  }

  WebClientSettings settings_;
  std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)> multi_;
  std::list<Download> active_;
};

}  // namespace

std::unique_ptr<WebClient> make_web_client(WebClientSettings settings) {
  return std::make_unique<CurlClient>(std::move(settings));
}

}  // namespace keysieve
