// The part of a set's adds log that this host has received, in memory and in <cache>/<set>.adds. Live
// layers are filled from it, so an add that arrived once survives the log, the loader and shared memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/stores/log_file.hpp"
#include "tools/transfer/checked_log.hpp"

namespace keysieve {

// One thread. Memory per add: 32 bytes and its key, up to twice that after growing.
class AddsMirror {
 public:
  explicit AddsMirror(std::string path) : path_(std::move(path)), file_(path_, LogFile::Access::OwnerAlone) {}

  // Reads the file into what is in memory already, and makes it durable; if that fails, save() tries again. A
  // missing file is empty. Throws as a LogFile does, and keeps what could be read.
  void load();
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  // Takes the entries that are not here yet, in memory only; they must be in the order of a log. If another
  // key has an entry's position, as after a failover that lost entries, the next free one is taken. Returns
  // a position after which all new entries are, and little else; nothing when nothing is new.
  std::optional<LogPosition> merge(std::span<const LogEntry> entries);
  // What is known of the log, for the next process: in memory only. It is saved with the next entries, or
  // without any if it says more, or less, of what is lost.
  void know(const KnownLog& log);
  [[nodiscard]] const KnownLog& known_log() const noexcept { return known_log_; }
  // Forgets the entries up to there, in memory only.
  void trim(const LogPosition& up_to);
  // Makes the file durably equal to what is in memory; writes nothing when it is. Throws as a LogFile does;
  // call it again until it does not.
  void save();

  // Entries that were taken and not saved since; what is known of a loss counts as one.
  [[nodiscard]] std::size_t unsaved() const noexcept { return unsaved_ + (is_loss_unsaved_ ? 1 : 0); }
  [[nodiscard]] std::size_t count_after(const LogPosition& position) const {
    return entries_.size() - first_after(position);
  }
  // Calls visit(key) for each entry above the position.
  template <typename Visit>
  void visit_after(const LogPosition& position, const Visit& visit) const {
    for (std::size_t i = first_after(position); i < entries_.size(); ++i) visit(key_of(entries_[i]));
  }

 private:
  struct Entry {
    LogPosition position;
    std::uint64_t key_offset;
    std::uint64_t key_bytes;
  };
  static_assert(sizeof(Entry) == 32);
  using Entries = std::vector<Entry>;  // positions rise

  [[nodiscard]] std::string_view key_of(const Entry& entry) const {
    return std::string_view(keys_).substr(entry.key_offset, entry.key_bytes);
  }
  [[nodiscard]] std::size_t first_after(const LogPosition& position) const;
  [[nodiscard]] std::vector<LogEntry> some_from(std::size_t first) const;
  [[nodiscard]] LogEntry note() const;
  [[nodiscard]] const Entry* find(const Entries& among, const LogPosition& position) const;
  void take(Entries& fresh, LogPosition position, std::string_view key);
  void take_note(const std::string& note);
  void append_to_file();
  void rewrite_file();

  std::string path_;
  LogFile file_;
  Entries entries_;
  std::string keys_;
  std::size_t unsaved_ = 0;
  KnownLog known_log_{};
  bool is_loss_unsaved_ = false;
  bool must_be_rewritten_ = false;  // damaged, or not by appending
};

}  // namespace keysieve
