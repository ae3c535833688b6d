// Reads a list of keys: one per line, or NUL-separated. Empty lines are skipped. A CR at the end of a line
// is an error, because keys with an invisible CR never match (allow_cr strips it). Other errors are a NUL
// in a line, a NUL-separated list without a NUL, a byte order mark, and compressed data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keysieve {

// Also the limit of an added key. A file of another kind, or a pipe that never ends a line, must not fill the
// memory.
inline constexpr std::size_t kMaxKeyBytes = std::size_t{1} << 20;

struct KeyFileFormat {
  bool nul_separated = false;  // then empty keys count, and CR and LF are ordinary bytes
  bool allow_cr = false;
  bool has_columns = false;  // a line's key ends at its first TAB, which matters only for suspicions
  std::size_t max_key_bytes = kMaxKeyBytes;  // a longer key is an error

  [[nodiscard]] char separator() const noexcept { return nul_separated ? '\0' : '\n'; }
};

// Names a list of keys in messages: its path, or "standard input" for "-".
inline std::string key_source(const std::string& path) {
  return path == "-" ? "standard input" : path;
}

// Returns true if the list of keys ("-" too) and `path` are the same file, whatever their names.
bool is_same_file(const std::string& key_path, const std::string& path);

// Lines of a list look as if they were not keys, although they may be.
struct Suspicion {
  std::string sentence;
  bool is_grave = false;  // so many lines look like that, or so clearly, that the list is probably wrong
};

struct KeysRead {
  std::uint64_t count = 0;
  std::vector<Suspicion> suspicions;
};

// Calls `on_key` for every key, in order; the view is valid during that call. "-" is standard input.
// Memory: one buffer and the longest allowed key. Throws MissingInput, Permission, Data with the line;
// `on_key` has then got the keys before that line.
KeysRead read_keys(const std::string& path, const KeyFileFormat& format,
                   const std::function<void(std::string_view key)>& on_key);

// Reads keys in `threads` threads, when their order does not matter. The caller is thread 0. Each thread
// passes some keys at a time. If several lines are wrong, the message names the first one.
using OnKeys = std::function<void(unsigned thread, std::span<const std::string_view> keys)>;
KeysRead read_keys_in_threads(const std::string& path, const KeyFileFormat& format, unsigned threads,
                              const OnKeys& on_keys);

}  // namespace keysieve
