#include "tools/transfer/pointer_record.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

SnapshotRecord record_of_generation(std::uint64_t generation) {
  SnapshotRecord record;
  record.generation = generation;
  record.build_id.fill(static_cast<std::uint8_t>(generation));
  record.chunk_count = 2;
  record.bytes = snapshot_layout(20, 4096).file_bytes;
  record.checksum = 0xfedcba9876543210;
  record.as_of = 1'700'000'000;
  record.key_count = 80'000;
  record.kind = "bloom";
  record.hash_count = 6;
  record.shard_bytes = 4096;
  record.shard_count = 20;
  record.seed = 0x0123456789abcdef;
  return record;
}

Json valid_document() {
  return Json::parse(
      encode(PointerRecord{record_of_generation(9), {record_of_generation(8), record_of_generation(5)}}));
}

TEST(PointerRecord, ComesBackAsItWasEncoded) {
  const PointerRecord record{record_of_generation(9), {record_of_generation(8), record_of_generation(5)}};
  const PointerRecord decoded = decode_pointer_record(encode(record), "source");
  EXPECT_EQ(decoded.current, record.current);
  EXPECT_EQ(decoded.previous, record.previous);
}

TEST(PointerRecord, IsReadableJson) {
  const Json current = valid_document()["current"];
  EXPECT_EQ(current["generation"], 9);
  EXPECT_EQ(current["build_id"], "09090909090909090909090909090909");
  EXPECT_EQ(current["checksum"], "fedcba9876543210");
  EXPECT_EQ(current["seed"], "0123456789abcdef");
  EXPECT_EQ(current["kind"], "bloom");
}

TEST(PointerRecord, PassesOverMembersOfLaterVersions) {
  Json document = valid_document();
  document["later"] = true;
  document["current"]["later"] = Json::array({1, 2});
  EXPECT_EQ(decode_pointer_record(document.dump(), "source").current, record_of_generation(9));
}

TEST(PointerRecord, OfANewerFormatIsIncompatible) {
  Json document = valid_document();
  document["format"] = 2;
  EXPECT_THAT(
      test::message_of<IncompatibleError>([&] { decode_pointer_record(document.dump(), "store: key"); }),
      StartsWith("store: key: has record format 2"));
}

TEST(PointerRecord, IsRefusedWhenTruncatedAnywhere) {
  const std::string text = valid_document().dump();
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_THROW(decode_pointer_record(text.substr(0, size), "source"), DataError) << size;
  }
}

TEST(PointerRecord, IsRefusedWithoutAnyOfItsMembers) {
  const Json valid = valid_document();
  for (const auto& [member, value] : valid.items()) {
    Json document = valid;
    document.erase(member);
    EXPECT_THROW(decode_pointer_record(document.dump(), "source"), DataError) << member;
  }
  for (const auto& [member, value] : valid["current"].items()) {
    Json document = valid;
    document["current"].erase(member);
    EXPECT_EQ(test::message_of<DataError>([&] { decode_pointer_record(document.dump(), "source"); }),
              "source: \"current\": \"" + member + "\" is missing");
  }
}

TEST(PointerRecord, IsRefusedWhenAMemberHasAnotherType) {
  const Json valid = valid_document();
  for (const auto& [member, value] : valid["current"].items()) {
    for (const Json& wrong : {Json(nullptr), Json(true), Json(1.5), Json(-1), Json("text"), Json::array(),
                              Json::object(), Json(1e300)}) {
      if (member == "kind" && wrong.is_string()) continue;  // that is one
      Json document = valid;
      document["current"][member] = wrong;
      EXPECT_THROW(decode_pointer_record(document.dump(), "source"), DataError) << member << " " << wrong;
    }
  }
}

struct WrongValue {
  const char* member;
  Json value;
  const char* reason;
};

TEST(PointerRecord, IsRefusedWhenAValueIsOutOfRange) {
  const std::vector<WrongValue> wrong_values{
      {"generation", 0, "is out of range"},
      {"generation", UINT64_MAX, "is out of range"},
      {"build_id", "0909", "is not 32 hexadecimal digits"},
      {"build_id", std::string(32, 'g'), "is not 32 hexadecimal digits"},
      {"build_id", std::string(32, 'A'), "is not 32 hexadecimal digits"},
      {"build_id", std::string(34, '0'), "is not 32 hexadecimal digits"},
      {"build_id", "", "is not 32 hexadecimal digits"},
      {"checksum", "0x12345678901234", "is not 16 hexadecimal digits"},
      {"checksum", "+123456789012345", "is not 16 hexadecimal digits"},
      {"seed", "0123456789abcde", "is not 16 hexadecimal digits"},
      {"seed", "0123456789abcdef0", "is not 16 hexadecimal digits"},
      {"chunk_count", 0, "is out of range"},
      {"chunk_count", 3, "does not fit \"bytes\""},
      {"chunk_count", std::uint64_t{1} << 32, "is out of range"},
      {"bytes", 0, "is out of range"},
      {"bytes", 4095, "is out of range"},
      {"bytes", UINT64_MAX, "does not fit \"bytes\""},
      {"as_of", UINT64_MAX, "is out of range"},
      {"kind", "", "is not a filter kind"},
      {"kind", std::string(1000, 'k'), "is not a filter kind"},
      {"hash_count", 256, "is out of range"},
      {"shard_bytes", 5000, "is out of range"},
      {"shard_bytes", 0, "is out of range"},
      {"shard_count", 0, "is out of range"},
      {"shard_count", 4'000'000'000, "does not fit \"bytes\""},
      {"shard_count", 19, "does not fit \"bytes\""},
      {"shard_bytes", 2048, "does not fit \"bytes\""},
      {"bytes", 100'000, "does not fit \"bytes\""},
  };
  for (const WrongValue& wrong : wrong_values) {
    Json document = valid_document();
    document["current"][wrong.member] = wrong.value;
    EXPECT_THAT(test::message_of<DataError>([&] { decode_pointer_record(document.dump(), "store: key"); }),
                AllOf(StartsWith("store: key: \"current\": "), HasSubstr(wrong.reason)))
        << wrong.member << " " << wrong.value;
  }
}

TEST(PointerRecord, IsRefusedWhenTheOlderGenerationsAreWrong) {
  const auto refuses = [](const Json& previous) {
    Json document = valid_document();
    document["previous"] = previous;
    EXPECT_THROW(decode_pointer_record(document.dump(), "source"), DataError) << previous;
  };
  const Json entry = valid_document()["previous"][0];
  Json same_generation = entry;
  same_generation["generation"] = 9;
  refuses(Json::object());
  refuses(Json::array({1}));
  refuses(Json::array({same_generation}));
  refuses(Json::array({entry, entry}));
  refuses(Json::array({valid_document()["previous"][1], entry}));
  Json third = entry;
  third["generation"] = 1;
  refuses(Json::array({entry, valid_document()["previous"][1], third}));
}

TEST(PointerRecord, IsRefusedWhenItIsNoRecordAtAll) {
  const std::string deep(60'000, '[');
  for (const std::string& text :
       {std::string("[]"), std::string("null"), std::string("{}"), std::string("\0", 1),
        std::string("{\"format\":\"1\"}"), std::string("\xff\xfe"), deep}) {
    EXPECT_THROW(decode_pointer_record(text, "source"), DataError) << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace keysieve
