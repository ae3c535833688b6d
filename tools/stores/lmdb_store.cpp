// The embedded default store: LMDB, transactional, for any number of processes of one host.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "core/builder/base/log_positions.hpp"
#include "core/worker/base/bytes.hpp"
#include "core/worker/base/clock.hpp"
#include "core/worker/base/error.hpp"
#include "tools/program/durable_file.hpp"
#include "tools/program/units.hpp"
#include "tools/stores/lmdb_environment.hpp"
#include "tools/stores/store_file.hpp"
#include "tools/stores/store_url.hpp"

namespace keysieve {
namespace {

// Address space, not disk: the file grows as it is filled. LMDB cannot grow it while it is used.
constexpr std::string_view kDefaultMapSize = "64GiB";
constexpr std::uint64_t kMinMapBytes = std::uint64_t{1} << 20;
// Above every key of a log, below every record's.
constexpr std::string_view kFirstRecordKey = "\x01";

// LMDB makes the database in a folder that has none, and in an empty file.
void check_database(const std::string& folder, const std::string& store_name) {
  struct stat status {};
  if (::stat((folder + "/" + kDatabaseFile).c_str(), &status) != 0) {
    throw_store_error(store_name + ": cannot open a store", errno);
  }
  if (status.st_size == 0) {
    throw Error(ErrorKind::Unavailable, store_name + ": cannot open a store: " + kDatabaseFile + " is empty");
  }
}

// A log's name is between zero bytes, which no record's key has. "\0<log>\0" holds the log's head. The same
// text plus a position, whose bytes compare as positions do, holds an entry: its ordinal, then its key.
struct LogHead {
  LogPosition begun{};
  LogPosition end{};
  std::uint64_t count = 0;
};
static_assert(sizeof(LogHead) == 40);

std::string head_key_of(const std::string& log) {
  std::string key(1, '\0');
  return key.append(log).append(1, '\0');
}

template <typename T>
std::string_view bytes_text(const T& value) {
  return as_text(std::as_bytes(std::span(&value, 1)));
}

std::string entry_key_of(const std::string& log, const LogPosition& position) {
  return head_key_of(log).append(bytes_text(position));
}

class LmdbStore final : public Store {
 public:
  LmdbStore(const std::string& folder, std::uint64_t map_bytes, const StoreUrl& url, IfMissing if_missing)
      : Store(url.name, url.prefix), folder_(folder) {
    if (if_missing == IfMissing::Create) {
      create_folder(folder, name());
    } else {
      check_database(folder, name());
    }
    environment_ = LmdbEnvironment::shared(folder, map_bytes, name());
    if (if_missing == IfMissing::Create) sync_folder(folder);  // LMDB itself keeps no name of its files
  }

  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    const LmdbTransaction transaction = begin(MDB_RDONLY);
    std::vector<std::optional<std::string>> values;
    values.reserve(keys.size());
    for (const std::string& key : keys) values.push_back(transaction.get(key));
    return values;
  }

  void put_many(std::span<const Record> records) override {
    LmdbTransaction transaction = begin(0);
    for (const Record& record : records) transaction.put(record.key, record.value);
    transaction.commit();
  }

  bool compare_and_set(const Record& record, const std::optional<std::string>& expected) override {
    LmdbTransaction transaction = begin(0);
    if (transaction.get(record.key) != expected) return false;
    transaction.put(record.key, record.value);
    transaction.commit();
    return true;
  }

  void remove_many(std::span<const std::string> keys) override {
    LmdbTransaction transaction = begin(0);
    for (const std::string& key : keys) transaction.remove(key);
    transaction.commit();
  }

  std::vector<std::string> keys_with_prefix(const std::string& prefix) override {
    std::vector<std::string> keys;
    begin(MDB_RDONLY).visit_from(prefix.empty() ? kFirstRecordKey : prefix, [&](auto key, auto /*value*/) {
      if (!key.starts_with(prefix)) return Visited::KeepAndStop;
      keys.emplace_back(key);
      return Visited::Keep;
    });
    return keys;
  }

  LogPosition append(const std::string& log, std::span<const std::string> keys) override {
    check_logged(log, keys);
    LmdbTransaction transaction = begin(0);
    LogHead head = head_in(transaction, log);
    if (keys.empty()) return head.end;
    for (const std::string& key : keys) {
      move_on(head);
      ++head.count;
      transaction.put(entry_key_of(log, head.end), std::string(bytes_text(head.count)).append(key));
    }
    put_head(transaction, log, head);
    transaction.commit();
    return head.end;
  }

  std::vector<LogEntry> read_after(const std::string& log, const LogPosition& after,
                                   std::size_t max_entries) override {
    const LmdbTransaction transaction = begin(MDB_RDONLY);
    const LogHead head = head_in(transaction, log);
    known_facts(log) = {.begun = head.begun, .end = head.end, .count = head.count};
    const std::string from = entry_key_of(log, after);
    std::vector<LogEntry> entries;
    transaction.visit_from(from, [&](auto key, auto value) {
      if (!is_entry(key, log) || entries.size() == max_entries) return Visited::KeepAndStop;
      if (key != from) entries.push_back(entry_at(key, value, log));
      return Visited::Keep;
    });
    return entries;
  }

  void trim(const std::string& log, const LogPosition& up_to) override {
    LmdbTransaction transaction = begin(0);
    transaction.visit_from(entry_key_of(log, {}), [&](auto key, auto /*value*/) {
      const bool is_trimmed = is_entry(key, log) && position_of(key, log) <= up_to;
      return is_trimmed ? Visited::Remove : Visited::KeepAndStop;
    });
    transaction.commit();
  }

  void mark(const std::string& log) override {
    LmdbTransaction transaction = begin(0);
    LogHead head = head_in(transaction, log);
    move_on(head);
    put_head(transaction, log, head);
    transaction.commit();
  }

  std::unique_ptr<StoreWatch> watch() override { return watch_folder(folder_, name(), kDatabaseFile); }

 private:
  [[nodiscard]] LmdbTransaction begin(unsigned flags) const { return {*environment_, flags, name()}; }

  [[nodiscard]] LogHead head_in(const LmdbTransaction& transaction, const std::string& log) const {
    LogHead head;
    const auto bytes = transaction.get(head_key_of(log));
    if (!bytes) return head;
    if (bytes->size() != sizeof head)
      throw Error(ErrorKind::Data, name() + ": " + log + ": holds a wrong head");
    std::memcpy(&head, bytes->data(), sizeof head);
    return head;
  }

  static void put_head(LmdbTransaction& transaction, const std::string& log, const LogHead& head) {
    transaction.put(head_key_of(log), bytes_text(head));
  }

  static void move_on(LogHead& head) {
    head.end = next_log_position(head.end, static_cast<std::uint64_t>(unix_now_ms()));
    if (head.begun == LogPosition{}) head.begun = head.end;
  }

  static bool is_entry(std::string_view key, const std::string& log) {
    return key.starts_with(head_key_of(log));
  }

  [[nodiscard]] LogEntry entry_at(std::string_view key, std::string_view value,
                                  const std::string& log) const {
    std::uint64_t ordinal = 0;
    if (value.size() < sizeof ordinal)
      throw Error(ErrorKind::Data, name() + ": " + log + ": holds an entry without its ordinal");
    std::memcpy(&ordinal, value.data(), sizeof ordinal);
    value.remove_prefix(sizeof ordinal);
    return {.position = position_of(key, log), .key = std::string(value), .ordinal = ordinal};
  }

  [[nodiscard]] LogPosition position_of(std::string_view entry_key, const std::string& log) const {
    const std::string_view bytes = entry_key.substr(head_key_of(log).size());
    LogPosition position{};
    if (bytes.size() != position.size())
      throw Error(ErrorKind::Data, name() + ": " + log + ": holds a wrong position");
    std::memcpy(position.data(), bytes.data(), bytes.size());
    return position;
  }

  std::string folder_;
  std::shared_ptr<LmdbEnvironment> environment_;
};

std::uint64_t take_map_bytes(StoreUrl& url) {
  const std::string text = take_parameter(url, "map_size").value_or(std::string(kDefaultMapSize));
  const std::uint64_t bytes = or_refuse(url, "map_size ", [&] { return parse_bytes(text); });
  if (bytes >= kMinMapBytes) return round_up_to_page(bytes);
  refuse(url, "map_size must be at least 1MiB");
}

}  // namespace

StoreOpener lmdb_store_opener(StoreUrl& url) {
  const std::string folder = take_folder(url);
  const std::uint64_t map_bytes = take_map_bytes(url);
  return [=](IfMissing if_missing, Patience /*patience*/) {
    return std::make_unique<LmdbStore>(folder, map_bytes, url, if_missing);
  };
}

bool would_keep_owner_out(const std::string& given) {
  StoreUrl url = parse_store_url(given);
  if (url.scheme != "lmdb") return false;
  const std::string folder = take_folder(url);
  struct stat status {};
  std::error_code failure;
  return ::stat(folder.c_str(), &status) == 0 && status.st_uid != ::geteuid() &&
         !std::filesystem::exists(folder + "/lock.mdb", failure);
}

}  // namespace keysieve
