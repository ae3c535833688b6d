// Reads a list of keys: one per line, or NUL-separated. Keys hold any other byte; empty lines are skipped. A
// CR at the end of a line is an error, because keys with an invisible CR never match; allow_cr strips it. So
// is a byte order mark at the beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
// PermissionError, DataError with the line.
std::uint64_t read_keys(const std::string& path, const KeyFileFormat& format,
                        const std::function<void(std::string_view key)>& on_key);

}  // namespace keysieve
