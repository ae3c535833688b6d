#include "tools/transfer/pointer_record.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "tools/transfer/chunk.hpp"
#include "tools/transfer/hex.hpp"

namespace keysieve {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kRecordFormat = 1;
constexpr std::size_t kMaxKindBytes = 32;

// Seeds and checksums are hexadecimal text: many readers of JSON know numbers to 53 bits only.
Json to_json(const SnapshotRecord& record) {
  return {{"generation", record.generation},     {"build_id", to_hex(record.build_id)},
          {"chunk_count", record.chunk_count},   {"bytes", record.bytes},
          {"checksum", to_hex(record.checksum)}, {"as_of", record.as_of},
          {"key_count", record.key_count},       {"kind", record.kind},
          {"hash_count", record.hash_count},     {"shard_bytes", record.shard_bytes},
          {"shard_count", record.shard_count},   {"seed", to_hex(record.seed)}};
}

// Takes members out of one object of the record; every wrong one is a DataError that names it.
class MemberReader {
 public:
  MemberReader(const Json& object, std::string source) : object_(object), source_(std::move(source)) {
    if (!object_.is_object()) throw DataError(source_ + ": is not an object");
  }

  [[noreturn]] void refuse(const std::string& member, const std::string& reason) const {
    throw DataError(source_ + ": \"" + member + "\" " + reason);
  }

  [[nodiscard]] const Json& at(const std::string& member) const {
    const auto found = object_.find(member);
    if (found == object_.end()) refuse(member, "is missing");
    return *found;
  }

  template <typename Number>
  [[nodiscard]] Number number(const std::string& member, Number least = 0) const {
    const Json& value = at(member);
    // A negative number is signed; whatever does not fit 64 bits is a float.
    if (!value.is_number_unsigned()) refuse(member, "is not a whole number");
    const auto number = value.get<std::uint64_t>();
    if (number < static_cast<std::uint64_t>(least) ||
        number > static_cast<std::uint64_t>(std::numeric_limits<Number>::max())) {
      refuse(member, "is out of range");
    }
    return static_cast<Number>(number);
  }

  [[nodiscard]] std::string text(const std::string& member) const {
    const Json& value = at(member);
    if (!value.is_string()) refuse(member, "is not text");
    return value.get<std::string>();
  }

  [[nodiscard]] std::uint64_t hex(const std::string& member) const {
    const auto value = parse_hex(text(member));
    if (!value) refuse(member, "is not 16 hexadecimal digits");
    return *value;
  }

  [[nodiscard]] BuildId build_id(const std::string& member) const {
    const auto id = parse_build_id(text(member));
    if (!id) refuse(member, "is not 32 hexadecimal digits");
    return *id;
  }

 private:
  const Json& object_;
  std::string source_;
};

SnapshotRecord snapshot_record_of(const Json& object, const std::string& source) {
  const MemberReader reader(object, source);
  SnapshotRecord record;
  record.generation = static_cast<std::uint64_t>(reader.number<std::int64_t>("generation", 1));
  record.build_id = reader.build_id("build_id");
  record.chunk_count = reader.number<std::uint32_t>("chunk_count", 1);
  record.bytes = reader.number<std::uint64_t>("bytes", kPageBytes);
  if (record.chunk_count != chunk_count_of(record.bytes))
    reader.refuse("chunk_count", "does not fit \"bytes\"");
  record.checksum = reader.hex("checksum");
  record.as_of = reader.number<UnixSeconds>("as_of");
  record.key_count = reader.number<std::uint64_t>("key_count");
  record.kind = reader.text("kind");
  if (record.kind.empty() || record.kind.size() > kMaxKindBytes)
    reader.refuse("kind", "is not a filter kind");
  record.hash_count = reader.number<std::uint8_t>("hash_count");
  record.shard_bytes = reader.number<std::uint32_t>("shard_bytes");
  if (!is_shard_bytes(record.shard_bytes)) reader.refuse("shard_bytes", "is out of range");
  record.shard_count = reader.number<std::uint32_t>("shard_count", 1);
  if (snapshot_layout(record.shard_count, record.shard_bytes).file_bytes != record.bytes) {
    reader.refuse("shard_count", "does not fit \"bytes\"");
  }
  record.seed = reader.hex("seed");
  return record;
}

}  // namespace

std::string encode(const PointerRecord& record) {
  Json previous = Json::array();
  for (const SnapshotRecord& older : record.previous) previous.push_back(to_json(older));
  return Json{{"format", kRecordFormat}, {"current", to_json(record.current)}, {"previous", previous}}.dump();
}

PointerRecord decode_pointer_record(std::string_view text, const std::string& source) {
  const Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) throw DataError(source + ": is not JSON");
  const MemberReader reader(document, source);
  if (const auto format = reader.number<std::uint64_t>("format", 1); format > kRecordFormat) {
    throw IncompatibleError(source + ": has record format " + std::to_string(format) +
                            "; this build reads up to " + std::to_string(kRecordFormat));
  }
  PointerRecord record{snapshot_record_of(reader.at("current"), source + ": \"current\""), {}};
  const Json& previous = reader.at("previous");
  if (!previous.is_array() || previous.size() >= kKeptGenerations) {
    reader.refuse("previous", "is not a list of at most " + std::to_string(kKeptGenerations - 1));
  }
  std::uint64_t newer = record.current.generation;
  for (const Json& object : previous) {
    record.previous.push_back(snapshot_record_of(object, source + ": \"previous\""));
    if (record.previous.back().generation >= newer) reader.refuse("previous", "is not in falling order");
    newer = record.previous.back().generation;
  }
  return record;
}

}  // namespace keysieve
