// Reads a list of keys: one per line, or NUL-separated. Keys hold any other byte; empty lines are skipped. A
// CR at the end of a line is an error, because keys with an invisible CR never match; allow_cr strips it. So
// is a byte order mark at the beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace keysieve {

struct KeyFileFormat {
  bool nul_separated = false;  // then empty keys count, and CR and LF are bytes as any other
  bool allow_cr = false;
  std::size_t max_key_bytes = SIZE_MAX;  // a longer key is an error
};

// How messages name a list of keys: its path, or "standard input" for "-".
std::string key_source(const std::string& path);

// "-" is standard input. Calls `on_key` for every key, in order; the view lives for that call. Returns the
// number of keys. Memory: one buffer and the longest key that is allowed. Throws MissingInputError,
// PermissionError, DataError with the line; keys before that line have been handed over.
std::uint64_t read_keys(const std::string& path, const KeyFileFormat& format,
                        const std::function<void(std::string_view key)>& on_key);

// The same in that many threads, of which the caller is number 0, for keys whose order does not matter: each
// hands over some keys at a time. Of several wrong lines the message names the first one.
using OnKeys = std::function<void(unsigned thread, std::span<const std::string_view> keys)>;
std::uint64_t read_keys_in_threads(const std::string& path, const KeyFileFormat& format, unsigned threads,
                                   const OnKeys& on_keys);

}  // namespace keysieve
