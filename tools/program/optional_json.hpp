// An optional value in JSON: null while it is missing. Used wherever the programs write JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace keysieve {

template <typename Value>
nlohmann::ordered_json or_null(const std::optional<Value>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

}  // namespace keysieve
