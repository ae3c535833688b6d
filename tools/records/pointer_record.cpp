#include "tools/records/pointer_record.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/builder/base/random.hpp"
#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/set_name.hpp"

namespace keysieve {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kPointerSuffix = ":current";

constexpr std::uint64_t kRecordFormat = 2;
constexpr std::size_t kMaxKindBytes = 32;
constexpr std::uint64_t kMaxBytes =
    std::uint64_t{std::numeric_limits<std::uint32_t>::max()} * kChunkPayloadBytes;

// The record's checksum covers its whole text, with zeros in place of these digits.
constexpr std::string_view kChecksumMember = "\"record_checksum\":\"";
constexpr std::size_t kChecksumDigits = 16;

// Returns the text with the right checksum.
std::string sealed(std::string text, std::size_t member) {
  const std::size_t digits = member + kChecksumMember.size();
  text.replace(digits, kChecksumDigits, kChecksumDigits, '0');
  return text.replace(digits, kChecksumDigits, to_hex(checksum(as_bytes(text))));
}

void check_checksum(std::string_view text, const std::string& source) {
  const std::size_t member = text.find(kChecksumMember);
  if (member != std::string_view::npos && sealed(std::string(text), member) != text) {
    throw Error(ErrorKind::Data, source + ": is damaged (checksum)");
  }
}

// Checksums are hexadecimal text: many JSON readers keep only 53 bits of a number.
Json to_json(const SnapshotRecord& record) {
  return {{"generation", record.generation},
          {"build_id", to_hex(record.build_id)},
          {"push_id", to_hex(record.push_id)},
          {"bytes", record.bytes},
          {"checksum", to_hex(record.checksum)},
          {"as_of", record.as_of},
          {"adds_from", to_text(record.adds_from)},
          {"key_count", record.key_count},
          {"restores", record.restores},
          {"kind", record.kind}};
}

Json to_json(const LogWitness& log) {
  return {{"begun", to_text(log.begun)},
          {"position", to_text(log.position)},
          {"lost_to", to_text(log.lost_to)},
          {"ordinal", log.ordinal}};
}

// Reads the members of one object of the record. Throws Data that names one that is missing or wrong.
class MemberReader {
 public:
  MemberReader(const Json& object, std::string source) : object_(object), source_(std::move(source)) {}

  void require(bool is_right, const std::string& member) const {
    if (!is_right) throw Error(ErrorKind::Data, source_ + ": \"" + member + "\" is missing or wrong");
  }

  [[nodiscard]] const Json& at(const std::string& member) const {
    const auto found = object_.find(member);  // of what is no object: nothing
    require(found != object_.end(), member);
    return *found;
  }

  [[nodiscard]] std::uint64_t number(const std::string& member, std::uint64_t least = 0,
                                     std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const {
    const Json& value = at(member);
    // The parser makes negative numbers signed, and numbers that do not fit 64 bits floats.
    require(value.is_number_unsigned() && value >= least && value <= most, member);
    return value.get<std::uint64_t>();
  }

  // What `parse` makes of a text.
  template <typename Parse>
  [[nodiscard]] auto parsed(const std::string& member, const Parse& parse) const {
    const Json& value = at(member);
    const auto result = parse(value.is_string() ? value.get<std::string>() : "");
    require(result.has_value(), member);
    return *result;
  }

 private:
  const Json& object_;
  std::string source_;
};

std::optional<std::string> parse_kind(std::string_view text) {
  const bool is_name = !text.empty() && text.size() <= kMaxKindBytes;
  return is_name ? std::optional<std::string>(text) : std::nullopt;
}

SnapshotRecord snapshot_record_of(const Json& object, const std::string& source) {
  const MemberReader reader(object, source);
  SnapshotRecord record;
  record.generation = reader.number("generation", 1, std::numeric_limits<std::int64_t>::max());
  record.build_id = reader.parsed("build_id", parse_id);
  record.push_id = reader.parsed("push_id", parse_id);
  record.bytes = reader.number("bytes", kPageBytes, kMaxBytes);
  record.checksum = reader.parsed("checksum", parse_hex);
  record.as_of = static_cast<UnixSeconds>(reader.number("as_of"));
  reader.require(is_moment(record.as_of), "as_of");
  record.adds_from = reader.parsed("adds_from", parse_log_position);
  record.key_count = reader.number("key_count");
  record.restores = reader.number("restores", 0, record.generation - 1);
  record.kind = reader.parsed("kind", parse_kind);
  return record;
}

LogWitness log_witness_of(const Json& object, const std::string& source) {
  const MemberReader reader(object, source);
  return {reader.parsed("begun", parse_log_position), reader.parsed("position", parse_log_position),
          reader.parsed("lost_to", parse_log_position), reader.number("ordinal")};
}

// An end that is no moment counts as none.
StoreBypass bypass_in(const Json& until) {
  if (until.is_null()) return std::nullopt;
  const UnixSeconds moment = until.is_number_unsigned() ? until.get<UnixSeconds>() : 0;
  return is_moment(moment) ? moment : 0;
}

// Reads the generations that the record keeps, whose numbers fall.
void read_generations(const MemberReader& reader, PointerRecord& record, const std::string& source) {
  const Json& current = reader.at("current");
  const Json& previous = reader.at("previous");
  const std::size_t most = current.is_null() ? 0 : kKeptGenerations - 1;
  reader.require(previous.is_array() && previous.size() <= most, "previous");
  if (current.is_null()) return;
  record.current = snapshot_record_of(current, source + ": \"current\"");
  std::uint64_t newer = record.current->generation;
  for (const Json& object : previous) {
    record.previous.push_back(snapshot_record_of(object, source + ": \"previous\""));
    reader.require(record.previous.back().generation < newer, "previous");
    newer = record.previous.back().generation;
  }
}

}  // namespace

std::string encode(const PointerRecord& record) {
  Json previous = Json::array();
  for (const SnapshotRecord& older : record.previous) previous.push_back(to_json(older));
  const Json document{{"format", kRecordFormat},
                      {"current", record.current ? to_json(*record.current) : Json()},
                      {"previous", std::move(previous)},
                      {"chunks_removed_to", to_hex(record.chunks_removed_to)},
                      {"adds_trimmed_to", to_text(record.adds_trimmed_to)},
                      {"adds_log", to_json(record.adds_log)},
                      {"bypass_until", record.bypass_until ? Json(*record.bypass_until) : Json()},
                      {"change_id", to_hex(random_value<std::uint64_t>())},
                      {"record_checksum", std::string(kChecksumDigits, '0')}};
  const std::string text = document.dump();
  return sealed(text, text.find(kChecksumMember));
}

PointerRecord decode_pointer_record(std::string_view text, const std::string& source) {
  const Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) throw Error(ErrorKind::Data, source + ": is not JSON");
  const MemberReader reader(document, source);
  const auto format = reader.number("format", 1);
  if (format != kRecordFormat) {
    throw Error(ErrorKind::Incompatible, source + ": has record format " + std::to_string(format) +
                                             "; this build reads " + std::to_string(kRecordFormat));
  }
  check_checksum(text, source);
  PointerRecord record;
  read_generations(reader, record, source);
  record.chunks_removed_to = reader.parsed("chunks_removed_to", parse_id);
  record.adds_trimmed_to = reader.parsed("adds_trimmed_to", parse_log_position);
  record.adds_log = log_witness_of(reader.at("adds_log"), source + ": \"adds_log\"");
  record.bypass_until = bypass_in(reader.at("bypass_until"));
  return record;
}

std::string pointer_key(std::string_view prefix, const std::string& set_name) {
  return std::string(prefix).append(":").append(checked_set_name(set_name)).append(kPointerSuffix);
}

std::optional<std::string> set_of_pointer_key(std::string_view prefix, std::string_view key) {
  if (key.size() < prefix.size() + 1 + kPointerSuffix.size()) return std::nullopt;
  std::string name(key.substr(prefix.size() + 1));
  name.resize(name.size() - kPointerSuffix.size());
  return is_set_name(name) && key == pointer_key(prefix, name) ? std::optional(std::move(name))
                                                               : std::nullopt;
}

SnapshotRecord describe(const SnapshotView& snapshot) {
  const SnapshotHeader& header = snapshot.header();
  SnapshotRecord record;
  record.build_id = header.build_id;
  record.bytes = snapshot.bytes().size();
  record.checksum = checksum(snapshot.bytes());
  record.as_of = header.as_of;
  record.adds_from = header.adds_from;
  record.key_count = header.key_count;
  record.kind = snapshot.kind().name;
  return record;
}

std::vector<SnapshotRecord> kept_generations(const PointerRecord& pointer) {
  std::vector<SnapshotRecord> generations;
  if (pointer.current) generations.push_back(*pointer.current);
  generations.insert(generations.end(), pointer.previous.begin(), pointer.previous.end());
  return generations;
}

std::optional<SnapshotRecord> find_kept(const PointerRecord& pointer, const PushId& push_id) {
  for (SnapshotRecord& kept : kept_generations(pointer)) {
    if (kept.push_id == push_id) return std::move(kept);
  }
  return std::nullopt;
}

bool is_obsolete(const PointerRecord& pointer, const PushId& push_id) {
  return push_id <= pointer.chunks_removed_to && !find_kept(pointer, push_id);
}

PushId newest_push(const PointerRecord& pointer) {
  PushId newest = pointer.chunks_removed_to;
  for (const SnapshotRecord& kept : kept_generations(pointer)) newest = std::max(newest, kept.push_id);
  return newest;
}

void make_current(PointerRecord& pointer, SnapshotRecord record) {
  const std::vector<SnapshotRecord> before = kept_generations(pointer);
  const bool is_same_build = pointer.current && pointer.current->build_id == record.build_id;
  if (is_same_build) {
    record.generation = pointer.current->generation;
    record.restores = pointer.current->restores;
  } else {
    record.generation = pointer.current ? pointer.current->generation + 1 : 1;
  }
  pointer.previous = before;
  std::erase_if(pointer.previous,
                [&](const SnapshotRecord& older) { return older.build_id == record.build_id; });
  pointer.previous.resize(std::min(pointer.previous.size(), kKeptGenerations - 1));
  pointer.current = std::move(record);
  for (const SnapshotRecord& old : before) {
    if (!find_kept(pointer, old.push_id))
      pointer.chunks_removed_to = std::max(pointer.chunks_removed_to, old.push_id);
  }
}

bool release_adds(PointerRecord& pointer) {
  std::vector<LogPosition> needed;
  for (const SnapshotRecord& kept : kept_generations(pointer)) needed.push_back(kept.adds_from);
  if (needed.empty()) return false;
  const LogPosition oldest = *std::min_element(needed.begin(), needed.end());
  if (oldest <= pointer.adds_trimmed_to || oldest < pointer.adds_log.begun) return false;
  pointer.adds_trimmed_to = oldest;
  return true;
}

}  // namespace keysieve
