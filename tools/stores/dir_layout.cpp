#include "tools/stores/dir_layout.hpp"

#include <cstdlib>

#include "tools/stores/store_url.hpp"

namespace keysieve {

std::string file_name_of(const std::string& key) {
  std::string name = percent_encoded(key, ":_-.");
  if (name.starts_with('.')) name.replace(0, 1, "%2E");
  return name;
}

std::optional<std::string> key_of(const std::string& file_name) {
  std::string key;
  for (std::size_t i = 0; i < file_name.size(); ++i) {
    if (file_name[i] == '%' && i + 2 < file_name.size()) {
      key += static_cast<char>(std::strtoul(file_name.substr(i + 1, 2).c_str(), nullptr, 16));
      i += 2;
    } else {
      key += file_name[i];
    }
  }
  return file_name_of(key) == file_name ? std::optional(key) : std::nullopt;
}

}  // namespace keysieve
