// The embedded default store: LMDB, transactional, for any number of processes of one host.
#include <lmdb.h>
#include <sys/stat.h>

#include <cerrno>
#include <mutex>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/error.hpp"
#include "tools/program/units.hpp"
#include "tools/stores/store_error.hpp"
#include "tools/stores/store_url.hpp"

namespace keysieve {
namespace {

// Address space, not disk: the file grows as it is filled. LMDB cannot grow it while it is used.
constexpr std::string_view kDefaultMapSize = "64GiB";
constexpr std::uint64_t kMinMapBytes = std::uint64_t{1} << 20;
constexpr mdb_mode_t kFileMode = 0660;  // less the umask

[[noreturn]] void throw_lmdb_error(const std::string& what, int code) {
  if (code > 0) throw_store_error(what, code);
  const std::string message = what + ": " + mdb_strerror(code);
  switch (code) {
    case MDB_INVALID:
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_VERSION_MISMATCH:
      throw DataError(message);
    case MDB_MAP_FULL:
      throw CannotCreateError(message + "; open it with a larger ?map_size=");
    default:
      throw UnavailableError(message);
  }
}

// LMDB forbids to open one file twice in a process (closing either drops the locks of both), so the stores of
// a process share it.
class Environment {
 public:
  Environment(const std::string& folder, std::uint64_t map_bytes, const std::string& store_name) {
    int code = open(folder, map_bytes, 0);
    if (code == EACCES || code == EROFS) code = open(folder, map_bytes, MDB_RDONLY);
    if (code != MDB_SUCCESS) throw_lmdb_error(store_name + ": cannot open", code);
    int dead_readers = 0;  // their slots would keep old pages from being used again
    mdb_reader_check(environment_.get(), &dead_readers);
  }

  [[nodiscard]] MDB_env* get() const noexcept { return environment_.get(); }

 private:
  int open(const std::string& folder, std::uint64_t map_bytes, unsigned flags) {
    MDB_env* created = nullptr;
    if (const int code = mdb_env_create(&created); code != MDB_SUCCESS) return code;
    environment_.reset(created);
    if (const int code = mdb_env_set_mapsize(created, map_bytes); code != MDB_SUCCESS) return code;
    // NOTLS: readers belong to transactions and not to threads.
    return mdb_env_open(created, folder.c_str(), flags | MDB_NOTLS, kFileMode);
  }

  struct Close {
    void operator()(MDB_env* environment) const noexcept { mdb_env_close(environment); }
  };
  std::unique_ptr<MDB_env, Close> environment_;
};

std::shared_ptr<Environment> shared_environment(const std::string& folder, std::uint64_t map_bytes,
                                                const std::string& store_name) {
  static std::mutex mutex;  // also held while one is closed, so that it is not opened again meanwhile
  static std::map<std::pair<dev_t, ino_t>, std::weak_ptr<Environment>> environments;
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) throw_store_error(store_name + ": cannot open", errno);
  const std::scoped_lock lock(mutex);
  std::weak_ptr<Environment>& known = environments[{status.st_dev, status.st_ino}];
  if (auto environment = known.lock()) return environment;
  std::shared_ptr<Environment> opened(new Environment(folder, map_bytes, store_name),
                                      [](Environment* environment) {
                                        const std::scoped_lock closing(mutex);
                                        delete environment;
                                      });
  known = opened;
  return opened;
}

// LMDB makes the database in a folder that has none.
void check_database(const std::string& folder, const std::string& store_name) {
  struct stat status {};
  if (::stat((folder + "/data.mdb").c_str(), &status) != 0) {
    throw_store_error(store_name + ": cannot open", errno);
  }
}

MDB_val value_of(std::string_view text) {
  return {text.size(), const_cast<char*>(text.data())};  // LMDB only reads it
}

// Aborted unless committed.
class Transaction {
 public:
  Transaction(MDB_env* environment, unsigned flags, const std::string& store_name) : store_name_(store_name) {
    check(mdb_txn_begin(environment, nullptr, flags, &transaction_));
    if (const int code = mdb_dbi_open(transaction_, nullptr, 0, &records_); code != MDB_SUCCESS) {
      mdb_txn_abort(transaction_);
      throw_lmdb_error(store_name_, code);
    }
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (transaction_ != nullptr) mdb_txn_abort(transaction_);
  }

  [[nodiscard]] std::optional<std::string> get(const std::string& key) const {
    MDB_val key_value = value_of(key);
    MDB_val value{};
    const int code = mdb_get(transaction_, records_, &key_value, &value);
    if (code == MDB_NOTFOUND) return std::nullopt;
    check(code);
    return std::string(static_cast<const char*>(value.mv_data), value.mv_size);
  }

  void put(const Record& record) const {
    MDB_val key = value_of(record.key);
    MDB_val value = value_of(record.value);
    check(mdb_put(transaction_, records_, &key, &value, 0));
  }

  void remove(const std::string& key) const {
    MDB_val key_value = value_of(key);
    const int code = mdb_del(transaction_, records_, &key_value, nullptr);
    if (code != MDB_NOTFOUND) check(code);
  }

  // Durable when it returns.
  void commit() { check(mdb_txn_commit(std::exchange(transaction_, nullptr))); }

 private:
  void check(int code) const {
    if (code != MDB_SUCCESS) throw_lmdb_error(store_name_, code);
  }

  const std::string& store_name_;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi records_ = 0;
};

class LmdbStore final : public Store {
 public:
  LmdbStore(const std::string& folder, std::uint64_t map_bytes, const StoreUrl& url, IfMissing if_missing)
      : Store(url.name, url.prefix) {
    if (if_missing == IfMissing::Create) {
      create_folder(folder, name());
    } else {
      check_database(folder, name());
    }
    environment_ = shared_environment(folder, map_bytes, name());
  }

  std::optional<std::string> get(const std::string& key) override { return begin(MDB_RDONLY).get(key); }

  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    const Transaction transaction = begin(MDB_RDONLY);
    std::vector<std::optional<std::string>> values;
    values.reserve(keys.size());
    for (const std::string& key : keys) values.push_back(transaction.get(key));
    return values;
  }

  void put_many(std::span<const Record> records) override {
    Transaction transaction = begin(0);
    for (const Record& record : records) transaction.put(record);
    transaction.commit();
  }

  bool put_if_absent(const Record& record) override { return compare_and_set(record, std::nullopt); }

  bool compare_and_set(const Record& record, const std::optional<std::string>& expected) override {
    Transaction transaction = begin(0);
    if (transaction.get(record.key) != expected) return false;
    transaction.put(record);
    transaction.commit();
    return true;
  }

  void remove_many(std::span<const std::string> keys) override {
    Transaction transaction = begin(0);
    for (const std::string& key : keys) transaction.remove(key);
    transaction.commit();
  }

 private:
  [[nodiscard]] Transaction begin(unsigned flags) const { return {environment_->get(), flags, name()}; }

  std::shared_ptr<Environment> environment_;
};

std::uint64_t take_map_bytes(StoreUrl& url) {
  const std::string text = take_parameter(url, "map_size").value_or(std::string(kDefaultMapSize));
  try {
    const std::uint64_t bytes = parse_bytes(text);
    if (bytes >= kMinMapBytes) return round_up_to_page(bytes);
  } catch (const UsageError& error) {
    refuse(url, std::string("map_size ") + error.what());
  }
  refuse(url, "map_size must be at least 1MiB");
}

}  // namespace

std::unique_ptr<Store> open_lmdb_store(StoreUrl url, IfMissing if_missing) {
  const std::string folder = take_folder(url);
  const std::uint64_t map_bytes = take_map_bytes(url);
  refuse_other_parameters(url);
  return std::make_unique<LmdbStore>(folder, map_bytes, url, if_missing);
}

}  // namespace keysieve
