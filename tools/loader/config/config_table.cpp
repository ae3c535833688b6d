#include "tools/loader/config/config_table.hpp"

#include <fmt/core.h>

#include <sstream>

namespace keysieve {
namespace {

std::string name_of(toml::node_type type) {
  std::ostringstream name;
  name << type;
  return name.str();
}

}  // namespace

std::optional<std::string> ConfigTable::text(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (const auto* value = node->as_string()) return value->get();
  if (const auto* value = node->as_integer()) return fmt::format("{}", value->get());
  if (const auto* value = node->as_floating_point()) return fmt::format("{}", value->get());
  fail(key, fmt::format("must be a string or a number, not {}", name_of(node->type())));
}

std::optional<ConfigTable> ConfigTable::table(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  const std::string above = title_.empty() ? "[" : title_.substr(0, title_.size() - 1) + ".";
  const std::string title = fmt::format("{}{}]", above, key);
  if (!node->is_table()) fail(key, fmt::format("must be a table, headed {}", title));
  return ConfigTable(*node->as_table(), file_, title);
}

std::vector<ConfigTable> ConfigTable::tables(std::string_view key) {
  std::vector<ConfigTable> all;
  const toml::node* node = find(key);
  if (node == nullptr) return all;
  if (!node->is_array() || !node->as_array()->is_homogeneous(toml::node_type::table))
    fail(key, fmt::format("must be tables, each headed [[{}]]", key));
  for (const toml::node& one : *node->as_array())
    all.emplace_back(*one.as_table(), file_, fmt::format("[[{}]]", key));
  return all;
}

std::vector<std::string> ConfigTable::names() const {
  std::vector<std::string> all;
  for (const auto& [key, node] : *table_) all.emplace_back(key.str());
  return all;
}

void ConfigTable::reject_unknown_keys() const {
  for (const auto& [key, node] : *table_) {
    if (known_.contains(key.str())) continue;
    std::string expected;
    for (const std::string& name : known_) expected += (expected.empty() ? "" : ", ") + name;
    fail(key.str(), "unknown key; known here are " + expected);
  }
}

std::string ConfigTable::place_of(std::string_view key) const {
  const toml::node* node = table_->get(key);
  const auto& source = node == nullptr ? table_->source() : node->source();
  return fmt::format("{}:{}", file_, source.begin.line);
}

void ConfigTable::fail(std::string_view key, const std::string& reason) const {
  const std::string_view space = title_.empty() ? "" : " ";
  throw Error(ErrorKind::Config, fmt::format("{}: {}{}{}: {}", place_of(key), title_, space, key, reason));
}

std::vector<std::string> ConfigTable::texts(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  if (const auto* value = node->as_string()) return {value->get()};
  const toml::array* array = node->as_array();
  // An empty one would mean no requirement at all.
  if (array == nullptr || !array->is_homogeneous(toml::node_type::string))
    fail(key, "must be a string, or an array of strings that is not empty");
  std::vector<std::string> values;
  for (const toml::node& element : *array) values.push_back(element.as_string()->get());
  return values;
}

const toml::node* ConfigTable::find(std::string_view key) {
  known_.emplace(key);
  return table_->get(key);
}

}  // namespace keysieve
