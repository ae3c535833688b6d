#include "tools/transfer/store_contents.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "core/worker/base/set_name.hpp"
#include "tools/transfer/chunk.hpp"

namespace keysieve {
namespace {

struct ChunkName {
  PushId push_id{};
  std::uint32_t number = 0;
};

// Parses "<push id>:<number>" as chunk_key() writes it.
std::optional<ChunkName> parse_chunk_name(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto push_id = parse_id(text.substr(0, colon));
  const std::string_view digits = text.substr(colon + 1);
  std::uint32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (!push_id || std::to_string(number) != digits) return std::nullopt;
  return ChunkName{*push_id, number};
}

bool is_record_of_store(std::string_view name) {
  return name == "seed" || name == "bypass";
}
bool is_record_of_set(std::string_view name) {
  return name == "current" || name == "bypass";
}

// `name` is the part after the prefix. Returns false if it is not a name of keysieve's.
bool take(std::string_view name, StoreContents& contents) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return is_record_of_store(name);
  const std::string_view set_name = name.substr(0, colon);
  const std::string_view rest = name.substr(colon + 1);
  const auto chunk = parse_chunk_name(rest);
  if (!is_set_name(set_name) || (!chunk && !is_record_of_set(rest))) return false;
  ListedChunks& chunks = contents.sets[std::string(set_name)];
  if (chunk) chunks[chunk->push_id].push_back(chunk->number);
  return true;
}

}  // namespace

StoreContents contents_of(Store& store) {
  const std::string prefix = store.prefix() + ":";
  auto keys = store.keys_with_prefix(prefix);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  StoreContents contents;
  for (const std::string& key : keys) {
    if (!take(std::string_view(key).substr(prefix.size()), contents)) ++contents.foreign_records;
  }
  for (auto& [set_name, pushes] : contents.sets) {
    for (auto& [push_id, numbers] : pushes) std::sort(numbers.begin(), numbers.end());
  }
  return contents;
}

}  // namespace keysieve
