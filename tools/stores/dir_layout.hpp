// The files of a dir: store, which an http: or https: store reads from a web server.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tools/stores/store_url.hpp"

namespace keysieve {

// A log's file has this before what file_name_of() makes of the log's name.
inline constexpr std::string_view kLogPrefix = ".log-";

// Holds other bytes after every change to the store. So a client that finds it as it was need not read
// anything else. It begins with these words, which no page of a web server does.
inline constexpr std::string_view kChangesFile = ".changes";
inline constexpr std::string_view kChangesWords = "keysieve changes ";

// The name is neither hidden nor a path, whatever the key. Files that begin with a dot are the store's own.
inline std::string file_name_of(const std::string& key) {
  const std::string name = percent_encoded(key, ":_-.");
  return name.starts_with('.') ? "%2E" + name.substr(1) : name;
}

// The key of the record in a file of that name; nothing when it holds none.
inline std::optional<std::string> key_of(const std::string& file_name) {
  std::string key = percent_decoded(file_name);
  return file_name_of(key) == file_name ? std::optional(std::move(key)) : std::nullopt;
}

}  // namespace keysieve
