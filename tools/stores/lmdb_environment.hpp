// LMDB's environment and transaction for the LMDB store. They close what they open; a failure throws and
// names the store.
#pragma once

#include <lmdb.h>

#include <atomic>
#include <cstdint>
#include <functional>
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

// What to do with a key that was visited.
enum class Visited { Keep, Remove, KeepAndStop };

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
  // Visits the keys that are not below `from`, which is not empty, in the order of their bytes.
  void visit_from(std::string_view from,
                  const std::function<Visited(std::string_view key, std::string_view value)>& visit) const;

  // Durable when it returns.
  void commit();

 private:
  void check(int code) const;
  void check_number(unsigned flags, std::size_t last_before) const;

  const LmdbEnvironment& environment_;
  const std::string& store_name_;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi records_ = 0;
};

}  // namespace keysieve
