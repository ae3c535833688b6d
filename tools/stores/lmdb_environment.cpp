#include "tools/stores/lmdb_environment.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "core/builder/base/random.hpp"
#include "core/worker/base/error.hpp"
#include "tools/stores/store.hpp"
#include "tools/stores/store_file.hpp"

namespace keysieve {
namespace {

constexpr mdb_mode_t kEnvironmentMode = 0660;  // less the umask
// Since LMDB 0.9.25 the process that closes it last destroys the mutexes in the lock file, also those of one
// that opens it at that moment, to which they are invalid (EINVAL). They are valid again once no process has
// it open.
constexpr int kMostTries = 100;

[[noreturn]] void throw_lmdb_error(const std::string& what, int code) {
  if (code > 0) throw_store_error(what, code);
  const std::string message = what + ": " + mdb_strerror(code);
  switch (code) {
    case MDB_INVALID:
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_VERSION_MISMATCH:
      throw Error(ErrorKind::Data, message);
    case MDB_MAP_FULL:
      throw Error(ErrorKind::CannotCreate, message + "; open it with a larger ?map_size=");
    default:
      throw Error(ErrorKind::Unavailable, message);
  }
}

[[noreturn]] void throw_restored(const std::string& store_name) {
  throw Error(ErrorKind::Unavailable,
              store_name + ": " + kDatabaseFile +
                  " was replaced or copied over while it was in use: stop keysieved and all that write to the"
                  " store, then restore it");
}

MDB_val value_of(std::string_view text) {
  return {text.size(), const_cast<char*>(text.data())};  // LMDB only reads it
}

std::string_view text_in(const MDB_val& value) noexcept {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

// A commit changes the file before LMDB lets readers see it, so a watch of the file would look too early.
// So the file is touched once more; this is only a hint and may fail.
void wake_watches(MDB_env* environment) {
  int file = -1;
  if (mdb_env_get_fd(environment, &file) == MDB_SUCCESS) ::futimens(file, nullptr);
}

}  // namespace

LmdbEnvironment::LmdbEnvironment(const std::string& folder, std::uint64_t map_bytes,
                                 const std::string& store_name) {
  int code = open(folder, map_bytes, store_name);
  for (int tries = 1; code == EINVAL && tries < kMostTries; ++tries) {
    environment_.reset();
    std::this_thread::sleep_for(std::chrono::milliseconds(1 + random_value<std::uint8_t>() % 16));
    code = open(folder, map_bytes, store_name);
  }
  if (code != MDB_SUCCESS) throw_lmdb_error(store_name + ": cannot open", code);
  path_ = folder + "/" + kDatabaseFile;
  int file = -1;
  struct stat status {};
  mdb_env_get_fd(environment_.get(), &file);
  if (::fstat(file, &status) != 0) throw_store_error(store_name + ": cannot open", errno);
  identity_ = identity_of(status);
  int dead_readers = 0;  // their slots would keep old pages from being used again
  mdb_reader_check(environment_.get(), &dead_readers);
}

// The first reader of a process locks the byte of its process id in the lock file, until the environment is
// closed. So programs in two containers cannot both read if both have the id 1. Writers are not held back,
// which is worse: if one is killed while it waits, the kernel mistakes the other's lock for its own,
// because their ids are equal, and a third can write at the same time. Hence this lock comes first.
int LmdbEnvironment::claim_process_id(const std::string& store_name) const {
  MDB_txn* reader = nullptr;
  const int code = mdb_txn_begin(environment_.get(), nullptr, MDB_RDONLY, &reader);
  if (code == EAGAIN || code == EACCES) {
    throw Error(ErrorKind::Unavailable,
                store_name + ": cannot open: a process of another container has it open, with the id " +
                    std::to_string(::getpid()) + " as this one; let both containers share one PID namespace");
  }
  if (code == MDB_SUCCESS) mdb_txn_abort(reader);
  return code;
}

void LmdbEnvironment::check_file(const std::string& store_name) const {
  const std::int64_t seen_bytes = seen_bytes_;  // before the look: another thread may see it grow meanwhile
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) throw_store_error(store_name + ": " + kDatabaseFile, errno);
  if (identity_of(status) != identity_ || status.st_size < seen_bytes) throw_restored(store_name);
  seen_bytes_ = status.st_size;
}

std::size_t LmdbEnvironment::last_transaction() const noexcept {
  MDB_envinfo info{};
  mdb_env_info(environment_.get(), &info);
  return info.me_last_txnid;
}

int LmdbEnvironment::open(const std::string& folder, std::uint64_t map_bytes, const std::string& store_name) {
  int code = open_with(0, folder, map_bytes);
  if (code == EACCES || code == EROFS) code = open_with(MDB_RDONLY, folder, map_bytes);
  return code == MDB_SUCCESS ? claim_process_id(store_name) : code;
}

int LmdbEnvironment::open_with(unsigned flags, const std::string& folder, std::uint64_t map_bytes) {
  MDB_env* created = nullptr;
  if (const int code = mdb_env_create(&created); code != MDB_SUCCESS) return code;
  environment_.reset(created);
  if (const int code = mdb_env_set_mapsize(created, map_bytes); code != MDB_SUCCESS) return code;
  // NOTLS: readers belong to transactions and not to threads.
  return mdb_env_open(created, folder.c_str(), flags | MDB_NOTLS, kEnvironmentMode);
}

std::shared_ptr<LmdbEnvironment> LmdbEnvironment::shared(const std::string& folder, std::uint64_t map_bytes,
                                                         const std::string& store_name) {
  // Also held while one is closed, so that it is not opened again meanwhile; by this function itself, if
  // memory runs out for a shared_ptr.
  static std::recursive_mutex mutex;
  static std::map<FileIdentity, std::weak_ptr<LmdbEnvironment>> environments;
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) throw_store_error(store_name + ": cannot open", errno);
  const std::scoped_lock lock(mutex);
  std::weak_ptr<LmdbEnvironment>& known = environments[identity_of(status)];
  if (auto environment = known.lock()) return environment;
  std::shared_ptr<LmdbEnvironment> opened(new LmdbEnvironment(folder, map_bytes, store_name),
                                          [](LmdbEnvironment* environment) {
                                            const std::scoped_lock closing(mutex);
                                            delete environment;
                                          });
  known = opened;
  return opened;
}

LmdbTransaction::LmdbTransaction(const LmdbEnvironment& environment, unsigned flags,
                                 const std::string& store_name)
    : environment_(environment), store_name_(store_name) {
  environment.check_file(store_name);
  const std::size_t last_before = environment.last_transaction();
  check(mdb_txn_begin(environment.get(), nullptr, flags, &transaction_));
  try {
    check_number(flags, last_before);
    check(mdb_dbi_open(transaction_, nullptr, 0, &records_));
  } catch (const Error&) {
    mdb_txn_abort(transaction_);
    throw;
  }
}

// LMDB takes the number from the lock file. A commit stores it in the database first and there afterwards, so
// for a reader either may be one ahead. A writer keeps others from committing.
void LmdbTransaction::check_number(unsigned flags, std::size_t last_before) const {
  const std::size_t number = mdb_txn_id(transaction_);
  const std::size_t last = environment_.last_transaction();
  const bool is_known =
      flags == MDB_RDONLY ? last_before <= number + 1 && number <= last : number == last + 1;
  if (!is_known) throw_restored(store_name_);
}

LmdbTransaction::~LmdbTransaction() {
  if (transaction_ != nullptr) mdb_txn_abort(transaction_);
}

std::optional<std::string> LmdbTransaction::get(std::string_view key) const {
  MDB_val key_value = value_of(key);
  MDB_val value{};
  const int code = mdb_get(transaction_, records_, &key_value, &value);
  if (code == MDB_NOTFOUND) return std::nullopt;
  check(code);
  if (value.mv_size > kMaxValueBytes) throw_too_large(store_name_, key);
  return std::string(text_in(value));
}

void LmdbTransaction::put(std::string_view key, std::string_view value) const {
  MDB_val key_value = value_of(key);
  MDB_val value_value = value_of(value);
  check(mdb_put(transaction_, records_, &key_value, &value_value, 0));
}

void LmdbTransaction::remove(std::string_view key) const {
  MDB_val key_value = value_of(key);
  const int code = mdb_del(transaction_, records_, &key_value, nullptr);
  if (code != MDB_NOTFOUND) check(code);
}

void LmdbTransaction::visit_from(
    std::string_view from,
    const std::function<Visited(std::string_view key, std::string_view value)>& visit) const {
  MDB_cursor* opened = nullptr;
  check(mdb_cursor_open(transaction_, records_, &opened));
  const std::unique_ptr<MDB_cursor, decltype(&mdb_cursor_close)> cursor(opened, mdb_cursor_close);
  MDB_val key = value_of(from);
  MDB_val value{};
  int code = mdb_cursor_get(opened, &key, &value, MDB_SET_RANGE);
  for (; code == MDB_SUCCESS; code = mdb_cursor_get(opened, &key, &value, MDB_NEXT)) {
    const Visited visited = visit(text_in(key), text_in(value));
    if (visited == Visited::KeepAndStop) return;
    if (visited == Visited::Remove) check(mdb_cursor_del(opened, 0));  // MDB_NEXT is the key behind it
  }
  if (code != MDB_NOTFOUND) check(code);
}

void LmdbTransaction::commit() {
  check(mdb_txn_commit(std::exchange(transaction_, nullptr)));
  wake_watches(environment_.get());
}

void LmdbTransaction::check(int code) const {
  if (code != MDB_SUCCESS) throw_lmdb_error(store_name_, code);
}

}  // namespace keysieve
