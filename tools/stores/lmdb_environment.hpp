// LMDB's environment, transaction and cursor for the LMDB store. They close what they open; a failure
// throws and names the store.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve {

inline constexpr const char* kDatabaseFile = "data.mdb";

// LMDB forbids opening one file twice in a process (closing either drops the locks of both), so the stores
// of a process share it. Any thread.
class LmdbEnvironment {
 public:
  // Opens it read-only if writing is not allowed. Throws as a Store does.
  static std::shared_ptr<LmdbEnvironment> shared(const std::string& folder, std::uint64_t map_bytes,
                                                 const std::string& store_name);

  [[nodiscard]] MDB_env* get() const noexcept { return environment_.get(); }

  // Throws Unavailable if another file has taken the place of the database, or if it has become shorter,
  // which LMDB never does: a page that is gone would be SIGBUS.
  void check_file(const std::string& store_name) const;
  // The number of the last transaction, as the database has it.
  [[nodiscard]] std::size_t last_transaction() const noexcept;

 private:
  LmdbEnvironment(const std::string& folder, std::uint64_t map_bytes, const std::string& store_name);
  // These return LMDB's code.
  int open(const std::string& folder, std::uint64_t map_bytes, const std::string& store_name);
  int open_with(unsigned flags, const std::string& folder, std::uint64_t map_bytes);
  [[nodiscard]] int claim_process_id(const std::string& store_name) const;

  std::unique_ptr<MDB_env, decltype(&mdb_env_close)> environment_{nullptr, mdb_env_close};
  std::string path_;  // of the database
  FileIdentity identity_;
  mutable std::atomic<off_t> seen_bytes_{0};
};

// Aborted unless committed. The environment and the name must outlive it.
//
// A database that was copied or moved back while a process has the environment open (a restore) is not the
// one that the lock file knows. LMDB goes by the lock file, takes the older of the two states that the
// database has, and writes over the newer one. So nothing is read or written then: Unavailable, until all
// processes have closed the environment.
class LmdbTransaction {
 public:
  // MDB_RDONLY or 0.
  LmdbTransaction(const LmdbEnvironment& environment, unsigned flags, const std::string& store_name);
  LmdbTransaction(const LmdbTransaction&) = delete;
  LmdbTransaction& operator=(const LmdbTransaction&) = delete;
  ~LmdbTransaction();

  [[nodiscard]] std::optional<std::string> get(std::string_view key) const;
  void put(std::string_view key, std::string_view value) const;
  void remove(std::string_view key) const;

  // Durable when it returns.
  void commit();

 private:
  friend class LmdbCursor;
  void check(int code) const;
  void check_number(unsigned flags, std::size_t last_before) const;

  const LmdbEnvironment& environment_;
  const std::string& store_name_;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi records_ = 0;
};

inline std::string_view text_of(const MDB_val& value) noexcept {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

// Goes over the keys of a transaction in the order of their bytes. It must be gone before the transaction
// ends or commits.
class LmdbCursor {
 public:
  // Starts at the first key that is not below `from`, which is not empty.
  LmdbCursor(const LmdbTransaction& transaction, std::string_view from);

  // Whether it is at a key, which can then be read or removed; false behind the last.
  [[nodiscard]] bool at_key() const noexcept { return at_key_; }
  // Valid until the transaction writes.
  [[nodiscard]] std::string_view key() const noexcept { return text_of(key_); }
  [[nodiscard]] std::string_view value() const noexcept { return text_of(value_); }
  void next() { move(MDB_NEXT); }
  void remove_and_next();

 private:
  void move(MDB_cursor_op operation);

  const LmdbTransaction& transaction_;
  std::unique_ptr<MDB_cursor, decltype(&mdb_cursor_close)> cursor_{nullptr, mdb_cursor_close};
  MDB_val key_{};
  MDB_val value_{};
  bool at_key_ = false;
};

}  // namespace keysieve
