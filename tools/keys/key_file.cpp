#include "tools/keys/key_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "core/builder/base/run_tasks.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "tools/keys/key_blocks.hpp"
#include "tools/keys/suspect_lines.hpp"

namespace keysieve {
namespace {

// Collects what the threads find in their blocks.
class Findings {
 public:
  void add_block(std::uint64_t number, std::uint64_t entries, std::uint64_t keys) {
    const std::lock_guard lock(mutex_);
    keys_ += keys;
    counted_.emplace(number, entries);
    for (auto next = counted_.find(blocks_); next != counted_.end(); next = counted_.find(++blocks_)) {
      entries_ += next->second;
      counted_.erase(next);
    }
  }

  void add_wrong(std::uint64_t block, const WrongEntry& wrong) {
    const std::lock_guard lock(mutex_);
    if (!wrong_ || block < wrong_block_) wrong_ = wrong;
    wrong_block_ = std::min(wrong_block_, block);
  }

  // Call it when all threads have ended. Blocks are taken in order, so all blocks before the first wrong
  // one are counted, and none after it.
  [[nodiscard]] std::uint64_t keys(const std::string& source, const KeyFileFormat& format) const {
    if (!wrong_) return keys_;
    if (wrong_->is_whole_list) throw Error(ErrorKind::Data, source + ": " + wrong_->reason);
    throw Error(ErrorKind::Data, source + ": " + (format.nul_separated ? "key " : "line ") +
                                     std::to_string(entries_ + wrong_->number) + " " + wrong_->reason);
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> counted_;  // entries of blocks after one that is not counted yet
  std::uint64_t blocks_ = 0;                        // entries_ covers all blocks before this one
  std::uint64_t entries_ = 0;
  std::uint64_t keys_ = 0;
  std::optional<WrongEntry> wrong_;
  std::uint64_t wrong_block_ = UINT64_MAX;
};

void split_all(KeyBlocks& blocks, KeySplitter& splitter, Findings& findings) {
  KeyBlocks::Block block;
  try {
    while (blocks.take(block)) {
      splitter.split(block);
      findings.add_block(block.number, splitter.entries(), splitter.keys());
    }
  } catch (const WrongEntry& wrong) {
    blocks.stop();
    findings.add_wrong(block.number, wrong);
  } catch (...) {
    blocks.stop();
    throw;
  }
}

}  // namespace

std::string key_source(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

bool is_same_file(const std::string& key_path, const std::string& path) {
  struct stat list {};
  struct stat other {};
  const int failure = key_path == "-" ? ::fstat(STDIN_FILENO, &list) : ::stat(key_path.c_str(), &list);
  if (failure != 0 || ::stat(path.c_str(), &other) != 0) return false;
  return identity_of(list) == identity_of(other);
}

KeysRead read_keys(const std::string& path, const KeyFileFormat& format,
                   const std::function<void(std::string_view key)>& on_key) {
  return read_keys_in_threads(path, format, 1, [&on_key](unsigned /*thread*/, auto keys) {
    for (const std::string_view key : keys) on_key(key);
  });
}

KeysRead read_keys_in_threads(const std::string& path, const KeyFileFormat& format, unsigned threads,
                              const OnKeys& on_keys) {
  KeyBlocks blocks(path, format);
  Findings findings;
  run_tasks(threads, threads, [&](unsigned thread, std::size_t /*task*/) {
    KeySplitter splitter(format, [&](auto keys) { on_keys(thread, keys); });
    split_all(blocks, splitter, findings);
  });
  return {.count = findings.keys(key_source(path), format),
          .suspicions = suspicions_about(blocks.beginning(), blocks.ending(), format)};
}

}  // namespace keysieve
