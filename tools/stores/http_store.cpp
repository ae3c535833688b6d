// The store that a web server shows: the folder of a dir: store behind a URL, which this host only reads.
//
// A poll asks for the file of changes alone, which is the same most of the time. What was read before then
// still holds. Only if that file is new, records and logs are asked for again.
//
// Web servers make an ETag of a file's size and the second it was written. Two versions of one second may
// have the same one, and no clock tells: that of the files, which a copy may keep, is not the server's. So
// only logs are asked for by their ETag: they may be large, and their size changes when they grow. And only
// if the file was read once more when that second was over.
#include <sys/mman.h>

#include <map>
#include <memory>

#include "core/builder/base/file_io.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "tools/stores/log_file.hpp"
#include "tools/stores/store_file.hpp"
#include "tools/stores/store_url.hpp"
#include "tools/stores/web_client.hpp"

namespace keysieve {
namespace {

using Clock = std::chrono::steady_clock;

// An ETag that was first seen so long ago, by this host's own clock, names one version.
constexpr std::chrono::seconds kETagSettles{2};
// One look at the file of changes serves the calls of one refresh.
constexpr std::chrono::seconds kLookLasts{1};
// Then everything is read again, even if nothing seems to have changed. A copy of the folder may have got the
// file of changes before the rest, and a cache on the way may have answered with an older version.
constexpr std::chrono::minutes kCopyLasts{5};
constexpr std::size_t kMaxChangesFileBytes = 4096;
constexpr std::string_view kNoFile = "no-such-file";  // a record's name has a colon
constexpr std::size_t kMaxLogFileBytes = std::size_t{64} << 20;
constexpr const char* kAuthorizationVariable = "KEYSIEVE_HTTP_AUTHORIZATION";

// What is known of one file of the server.
struct Copy {
  bool is_current = false;
  std::string changes{};              // the content of the file of changes when it was read
  std::string etag{};                 // to ask by
  std::string seen_etag{};            // of a log, as the server gave it
  Clock::time_point etag_seen_at{};   // first
  std::optional<std::string> body{};  // nothing: there is no such file
  std::optional<LogFile> log{};       // in place of the body
};

// Kept from one connection to the next.
struct Copies {
  std::string changes{};
  std::map<std::string, Copy> by_name{};
  std::optional<Clock::time_point> read_all_at{};

  void are_outdated() {
    for (auto& [file_name, copy] : by_name) copy.is_current = false;
  }
};

FileDescriptor in_memory(std::string_view bytes, const std::string& name) {
  FileDescriptor file(::memfd_create("keysieve-log", MFD_CLOEXEC));
  if (!file.is_open()) throw_store_error(name, errno);
  write_all(file, as_bytes(bytes), name);
  return file;
}

class HttpStore final : public Store {
 public:
  HttpStore(const StoreUrl& url, WebClientSettings settings, std::shared_ptr<Copies> copies)
      : Store(url.name, url.prefix),
        client_(make_web_client(std::move(settings))),
        copies_(std::move(copies)) {}

  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    check_changes();
    std::vector<std::string> file_names;
    for (const std::string& key : keys) file_names.push_back(file_name_of(key));
    fetch_outdated(file_names, kMaxValueBytes);
    std::vector<std::optional<std::string>> values;
    values.reserve(file_names.size());
    for (const std::string& file_name : file_names) values.push_back(copies_->by_name.at(file_name).body);
    return values;
  }

  std::vector<std::optional<std::string>> get_immutable(std::span<const std::string> keys) override {
    std::vector<WebRequest> requests;
    for (const std::string& key : keys) {
      requests.push_back(
          {.file_name = file_name_of(key), .max_bytes = kMaxValueBytes, .may_be_cached = true});
    }
    std::vector<std::optional<std::string>> values;
    for (WebAnswer& answer : client_->get(requests)) {
      const bool is_there = answer.status == WebAnswer::Status::Found;
      values.push_back(is_there ? std::optional(std::move(answer.body)) : std::nullopt);
      if (!is_there) looked_at_ = {};  // the caller asks what has replaced it
    }
    return values;
  }

  std::vector<LogEntry> read_after(const std::string& log, const LogPosition& after,
                                   std::size_t max_entries) override {
    LogFile* file = copy_of_log(log);
    known_facts(log) = file == nullptr ? LogFacts{} : file->facts();
    return file == nullptr ? std::vector<LogEntry>() : file->read_after(after, max_entries);
  }

  void distrust_copies() override { copies_->are_outdated(); }

 private:
  // Finds out whether the copies still hold.
  void check_changes() {
    const auto now = Clock::now();
    if (looked_at_ && now - *looked_at_ < kLookLasts) return;
    const WebRequest request{.file_name = std::string(kChangesFile), .max_bytes = kMaxChangesFileBytes};
    WebAnswer answer = std::move(client_->get(std::span(&request, 1)).front());
    if (answer.status == WebAnswer::Status::Missing) {
      refuse_changes(
          "is missing: that is not the folder of a dir: store, or the server hides files that begin with a "
          "dot");
    }
    if (!answer.body.starts_with(kChangesWords)) {
      refuse_changes("is something else: does the server show a page in its place?");
    }
    if (answer.body != copies_->changes) copies_->are_outdated();
    copies_->changes = std::move(answer.body);
    if (!copies_->read_all_at || now - *copies_->read_all_at > kCopyLasts) {
      check_missing();
      copies_->are_outdated();
      for (auto& [file_name, copy] : copies_->by_name) copy.etag.clear();
      copies_->read_all_at = now;
    }
    looked_at_ = now;
  }

  // A server that answers with a page instead of "missing" would seem to have a bypass.
  void check_missing() const {
    const WebRequest request{.file_name = std::string(kNoFile), .max_bytes = kMaxValueBytes};
    if (client_->get(std::span(&request, 1)).front().status == WebAnswer::Status::Missing) return;
    throw Error(ErrorKind::Unavailable,
                shown(kNoFile) +
                    ": the server shows something, though there is no such file: it must answer "
                    "404, not with a page that stands for all others");
  }

  [[noreturn]] void refuse_changes(const std::string& reason) const {
    throw Error(ErrorKind::Unavailable, shown(kChangesFile) + " " + reason);
  }

  [[nodiscard]] std::string shown(std::string_view file_name) const {
    return name() + (name().ends_with('/') ? "" : "/") + std::string(file_name);
  }

  // Brings those files here that are not, or may have changed.
  void fetch_outdated(std::span<const std::string> file_names, std::size_t max_bytes) {
    std::vector<WebRequest> requests;
    for (const std::string& file_name : file_names) {
      const Copy& copy = copies_->by_name[file_name];
      if (!copy.is_current)
        requests.push_back({.file_name = file_name, .max_bytes = max_bytes, .etag = copy.etag});
    }
    std::vector<WebAnswer> answers = client_->get(requests);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      take(copies_->by_name.at(requests[i].file_name), std::move(answers[i]), requests[i].file_name);
    }
  }

  // A file cannot be removed without a change. So if it is missing now, a cache on the way, or another server
  // of the same name, has never had it. A bypass would end that way.
  void take(Copy& copy, WebAnswer answer, const std::string& file_name) const {
    const bool is_missing = answer.status == WebAnswer::Status::Missing;
    if (is_missing && (copy.body || copy.log) && copy.changes == copies_->changes) {
      throw Error(ErrorKind::Unavailable, shown(file_name) + " is missing, which it was not before, and " +
                                              std::string(kChangesFile) + " says that nothing has changed");
    }
    if (answer.status != WebAnswer::Status::NotModified) {
      copy = fresh_copy(copy, file_name.starts_with(kLogPrefix) ? answer.etag : "");
      if (!is_missing) copy.body = std::move(answer.body);
    }
    copy.changes = copies_->changes;
    copy.is_current = true;
  }

  static Copy fresh_copy(const Copy& before, const std::string& etag) {
    const auto now = Clock::now();
    const bool is_known = !etag.empty() && etag == before.seen_etag;
    const auto seen_at = is_known ? before.etag_seen_at : now;
    const bool is_settled = is_known && now - seen_at >= kETagSettles;
    return {.etag = is_settled ? etag : "", .seen_etag = etag, .etag_seen_at = seen_at};
  }

  // nullptr: there is no such log.
  LogFile* copy_of_log(const std::string& log) {
    check_changes();
    const std::string file_name = std::string(kLogPrefix) + file_name_of(log);
    fetch_outdated(std::span(&file_name, 1), kMaxLogFileBytes);
    Copy& copy = copies_->by_name.at(file_name);
    if (copy.body) {
      copy.log.emplace(in_memory(*copy.body, shown(file_name)), shown(file_name));
      copy.body.reset();
      if (copy.log->facts().is_cut) copy.etag.clear();  // it may be that of the whole file
    }
    return copy.log ? &*copy.log : nullptr;
  }

  std::unique_ptr<WebClient> client_;
  std::shared_ptr<Copies> copies_;
  std::optional<Clock::time_point> looked_at_;
};

}  // namespace

StoreOpener http_store_opener(StoreUrl& url) {
  if (url.hosts.size() != 1) refuse(url, "must be " + url.scheme + "://host[:port]/path/");
  const auto authorization_file = take_secret_file(url, "authorization_file");
  const WebClientSettings settings{.name = url.name,
                                   .origin = url.name.substr(0, url.name.size() - url.path.size()),
                                   .folder = url.path.ends_with('/') ? url.path : url.path + "/",
                                   .timeout = take_timeout(url),
                                   .is_encrypted = url.scheme == "https",
                                   .tls = take_tls_files(url)};
  if (!url.user.empty() || url.password || (authorization_file && !settings.is_encrypted)) {
    refuse(url, "authorization comes from ?authorization_file= or " + std::string(kAuthorizationVariable) +
                    ", and goes over https alone");
  }
  if (!settings.is_encrypted && !(settings.tls.ca_file + settings.tls.cert_file).empty()) {
    refuse(url, "certificates are for https");
  }
  return [=, copies = std::make_shared<Copies>()](IfMissing /*if_missing*/, Patience /*patience*/) {
    WebClientSettings with_secret = settings;
    if (with_secret.is_encrypted) {
      with_secret.authorization =
          read_secret(url, "authorization", authorization_file, kAuthorizationVariable);
    }
    return std::make_unique<HttpStore>(url, std::move(with_secret), copies);
  };
}

}  // namespace keysieve
