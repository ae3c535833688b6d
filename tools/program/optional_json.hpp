// An optional value in JSON: null while it is missing. All that the programs write as JSON uses these.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace keysieve {

template <typename Value>
nlohmann::ordered_json or_null(const std::optional<Value>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

// Null if the text is empty.
inline nlohmann::ordered_json text_or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

// Null if the number is 0.
template <typename Number>
nlohmann::ordered_json number_or_null(Number number) {
  return number == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(number);
}

}  // namespace keysieve
