// Reads a list of keys: one per line, or NUL-separated. Empty lines are skipped. What cannot be right is an
// error: a CR at the end of a line, because keys with an invisible CR never match (allow_cr strips it); a NUL
// in a line, or none at all where keys end with NUL; a byte order mark; compressed data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keysieve {

struct KeyFileFormat {
  bool nul_separated = false;  // then empty keys count, and CR and LF are bytes as any other
  bool allow_cr = false;
  std::size_t max_key_bytes = SIZE_MAX;  // a longer key is an error
};

// How messages name a list of keys: its path, or "standard input" for "-".
std::string key_source(const std::string& path);

// Whether a list of keys, "-" too, is the file of that path, by whatever name.
bool is_same_file(const std::string& key_path, const std::string& path);

struct KeysRead {
  std::uint64_t count = 0;
  // What looks wrong about the first lines, though each may be a key; a sentence each.
  std::vector<std::string> suspicions;
};

// "-" is standard input. Calls `on_key` for every key, in order; the view lives for that call. Memory: one
// buffer and the longest key that is allowed. Throws MissingInput, Permission, Data with the
// line; keys before that line have been handed over.
KeysRead read_keys(const std::string& path, const KeyFileFormat& format,
                   const std::function<void(std::string_view key)>& on_key);

// The same in that many threads, of which the caller is number 0, for keys whose order does not matter: each
// hands over some keys at a time. Of several wrong lines the message names the first one.
using OnKeys = std::function<void(unsigned thread, std::span<const std::string_view> keys)>;
KeysRead read_keys_in_threads(const std::string& path, const KeyFileFormat& format, unsigned threads,
                              const OnKeys& on_keys);

}  // namespace keysieve
