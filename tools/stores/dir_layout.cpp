#include "tools/stores/dir_layout.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace keysieve {

std::string file_name_of(const std::string& key) {
  std::string name;
  for (const char c : key) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == ':' || c == '_' || c == '-' || (c == '.' && !name.empty());
    if (plain) {
      name += c;
    } else {
      std::array<char, 4> encoded{};
      std::snprintf(encoded.data(), encoded.size(), "%%%02X", static_cast<unsigned char>(c));
      name += encoded.data();
    }
  }
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
