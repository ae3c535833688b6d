// The store of plain files: one file per record, named after its key, and one per log. For NFS, rsync and
// tests.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <thread>

#include "core/builder/base/file_io.hpp"
#include "core/builder/base/folder_names.hpp"
#include "core/builder/base/log_positions.hpp"
#include "core/builder/base/random.hpp"
#include "core/worker/base/clock.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "tools/program/durable_file.hpp"
#include "tools/stores/log_file.hpp"
#include "tools/stores/store_file.hpp"
#include "tools/stores/store_url.hpp"

namespace keysieve {
namespace {

constexpr std::chrono::milliseconds kLockPollInterval{2};
// From this many records on, the whole file system is synced once instead of each file. Measured on ext4,
// on a disk that flushes in 4 ms: 64 records take 10 ms instead of 300 ms. Linux reports errors since 5.8.
constexpr std::size_t kSyncTogetherFrom = 4;

constexpr std::string_view kLockFile = ".lock";

constexpr FileStyle kStoreFile{kNewFileMode, share_as_folder, throw_store_error, Replaces::Anything};

class DirStore final : public Store {
 public:
  DirStore(std::string folder, std::chrono::milliseconds timeout, const StoreUrl& url, IfMissing if_missing)
      : Store(url.name, url.prefix), folder_(std::move(folder)), timeout_(timeout) {
    if (if_missing == IfMissing::Create) create_folder(folder_, name());
    check_folder();
    if (if_missing == IfMissing::Create) remove_unfinished(folder_, kAbandonedAfter);
  }

  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    std::vector<std::optional<std::string>> values;
    for (const std::string& key : keys) {
      const FileDescriptor file = open_store_file(path_of(key), O_RDONLY);
      if (!file.is_open() && errno != ENOENT) throw_store_error(name() + ": " + key, errno);
      if (!file.is_open()) check_folder();  // a folder that is gone must not look like an empty one
      values.push_back(file.is_open() ? std::optional(read_value(file, key)) : std::nullopt);
    }
    return values;
  }

  void put_many(std::span<const Record> records) override {
    const FileDescriptor folder = open_folder();  // before the writes: syncfs then reports their errors
    const bool are_few = records.size() < kSyncTogetherFrom;
    std::vector<DurableFile> files;
    for (const Record& record : records) {
      DurableFile& file = files.emplace_back(new_file(path_of(record.key), record.value));
      are_few ? file.sync() : file.close();
    }
    if (!are_few && ::syncfs(folder.get()) != 0) throw_store_error(name() + ": cannot write", errno);
    change([&] {
      for (DurableFile& file : files) file.move();
    });
    sync_folder();
  }

  bool compare_and_set(const Record& record, const std::optional<std::string>& expected) override {
    const FileDescriptor lock = take_lock();
    if (get(record.key) != expected) return false;
    DurableFile changes = next_changes();
    DurableFile file = new_file(path_of(record.key), record.value);
    file.sync();
    file.move();
    changes.move();
    sync_folder();
    return true;
  }

  void remove_many(std::span<const std::string> keys) override {
    change([&] {
      for (const std::string& key : keys) {
        if (::unlink(path_of(key).c_str()) != 0 && errno != ENOENT)
          throw_store_error(name() + ": cannot remove " + key, errno);
      }
    });
    sync_folder();
  }

  std::vector<std::string> keys_with_prefix(const std::string& prefix) override {
    std::vector<std::string> keys;
    std::error_code error;
    for (const std::string& name : names_in(folder_, error)) {
      auto key = key_of(name);
      std::error_code is_gone;
      if (key && key->starts_with(prefix) && std::filesystem::is_regular_file(folder_ + "/" + name, is_gone))
        keys.push_back(std::move(*key));
    }
    if (error) throw_store_error(name() + ": cannot read the folder", error.value());
    return keys;
  }

  LogPosition append(const std::string& log, std::span<const std::string> keys) override {
    check_logged(log, keys);
    LogPosition last{};
    change([&] {
      LogFile& file = file_of(log);
      file.begin(now_ms());
      last = file.end();
      std::vector<LogEntry> entries;
      for (const std::string& key : keys) {
        last = next_log_position(last, now_ms());
        entries.push_back({last, key});
      }
      file.append(entries);
    });
    return last;
  }

  std::vector<LogEntry> read_after(const std::string& log, const LogPosition& after,
                                   std::size_t max_entries) override {
    check_folder();
    LogFacts facts = file_of(log).facts();
    facts.is_cut = false;  // a writer is at work, or the next one ends it
    known_facts(log) = facts;
    std::vector<LogEntry> entries = file_of(log).read_after(after, max_entries);
    std::erase_if(entries, [&](const LogEntry& entry) { return entry.position > facts.end; });
    return entries;
  }

  void trim(const std::string& log, const LogPosition& up_to) override {
    change([&] { file_of(log).trim(up_to); });
  }

  void mark(const std::string& log) override {
    change([&] {
      file_of(log).begin(now_ms());
      file_of(log).move_end(now_ms());
    });
  }

  std::unique_ptr<StoreWatch> watch() override { return watch_folder(folder_, name(), kChangesFile); }

 private:
  template <typename Change>
  void change(const Change& make) const {
    const FileDescriptor lock = take_lock();
    DurableFile changes = next_changes();
    make();
    changes.move();
  }

  // The next version of the file of changes. Under the lock; it is written and has a name before the change,
  // which a full disk then prevents, and is moved into place after it. It is not synced: after a crash at the
  // wrong moment an http: store that reads the folder sees the change some minutes later.
  [[nodiscard]] DurableFile next_changes() const {
    DurableFile changes =
        new_file(folder_ + "/" + std::string(kChangesFile),
                 std::string(kChangesWords) + fmt::format("{:016x}\n", random_value<std::uint64_t>()));
    changes.close();
    return changes;
  }

  [[nodiscard]] static DurableFile new_file(const std::string& path, std::string_view text) {
    DurableFile file(path, kStoreFile);
    file.append(as_bytes(text));
    return file;
  }

  [[nodiscard]] std::string path_of(const std::string& key) const {
    return folder_ + "/" + file_name_of(key);
  }

  LogFile& file_of(const std::string& log) {
    const std::string path = folder_ + "/" + std::string(kLogPrefix) + file_name_of(log);
    return logs_.try_emplace(log, path).first->second;
  }

  static std::uint64_t now_ms() { return static_cast<std::uint64_t>(unix_now_ms()); }

  void check_folder() const { open_folder(); }

  FileDescriptor open_folder() const {
    FileDescriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.is_open()) throw_store_error(name() + ": cannot open the folder", errno);
    return folder;
  }

  // A rename is durable once its folder is synced. Unlike the folder that this one is in, it must be.
  void sync_folder() const {
    if (::fsync(open_folder().get()) != 0) throw_store_error(name() + ": cannot write the folder", errno);
  }

  [[nodiscard]] std::string read_value(const FileDescriptor& file, const std::string& key) const {
    std::string value(kMaxValueBytes + 1, '\0');
    const auto size = read_up_to(file, 0, std::as_writable_bytes(std::span(value)));
    if (!size) throw_store_error(name() + ": " + key, errno);
    if (*size > kMaxValueBytes) throw_too_large(name(), key);
    value.resize(*size);
    return value;
  }

  // The lock is held until the returned file is closed. flock works over NFS too if the file is open for
  // writing.
  FileDescriptor take_lock() const {
    const std::string path = folder_ + "/" + std::string(kLockFile);
    FileDescriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kNewFileMode));
    if (!lock.is_open()) throw_store_error(name() + ": cannot open the lock", errno);
    share_as_folder(lock, folder_);
    const auto deadline = std::chrono::steady_clock::now() + timeout_;
    while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) throw_store_error(name() + ": cannot lock", errno);
      if (std::chrono::steady_clock::now() >= deadline) {
        throw Error(ErrorKind::Unavailable, name() + ": another client has held the lock for more than " +
                                                std::to_string(timeout_.count()) + " ms");
      }
      std::this_thread::sleep_for(kLockPollInterval);
    }
    return lock;
  }

  std::string folder_;
  std::chrono::milliseconds timeout_;
  std::map<std::string, LogFile> logs_;
};

}  // namespace

StoreOpener dir_store_opener(StoreUrl& url) {
  const std::string folder = take_folder(url);
  const auto timeout = take_timeout(url);
  return [=](IfMissing if_missing, Patience /*patience*/) {
    return std::make_unique<DirStore>(folder, timeout, url, if_missing);
  };
}

}  // namespace keysieve
