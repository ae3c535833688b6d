// What a pointer record says and may not say. tests/faults/damaged_bytes_test.cpp changes each of its bytes
// and cuts it short everywhere.
#include "tools/records/pointer_record.hpp"

#include <nlohmann/json.hpp>

#include "core/builder/base/log_positions.hpp"
#include "tests/support/matchers.hpp"
#include "tests/tools/transfer/snapshots.hpp"

namespace keysieve::test {
namespace {

using Json = nlohmann::json;

SnapshotRecord record_of_generation(std::uint64_t generation) {
  SnapshotRecord record;
  record.generation = generation;
  record.build_id.fill(static_cast<std::uint8_t>(generation));
  record.push_id.fill(static_cast<std::uint8_t>(generation + 100));
  record.bytes = 98'304;
  record.checksum = 0xfedcba9876543210;
  record.as_of = 1'700'000'000;
  record.adds_from = log_position(1'699'999'999'000, 3);
  record.key_count = 80'000;
  record.restores = generation == 9 ? 7 : 0;
  record.kind = "bloom";
  return record;
}

PointerRecord valid_record() {
  return {.current = record_of_generation(9),
          .previous = {record_of_generation(8), record_of_generation(5)},
          .chunks_removed_to = push_id(0xab),
          .adds_trimmed_to = log_position(1'699'999'990'000, 0),
          .adds_log = {.begun = log_position(1'699'000'000'000, 0),
                       .position = log_position(1'699'999'999'000, 7),
                       .lost_to = log_position(1'699'500'000'000, 2),
                       .ordinal = 12'345},
          .bypass_until = 1'700'000'000};
}

// A record without a checksum, as earlier versions wrote it, so that changed members are checked; and without
// the id of its change, which nobody reads.
Json valid_document() {
  Json document = Json::parse(encode(valid_record()));
  document.erase("record_checksum");
  document.erase("change_id");
  return document;
}

bool is_refused(const std::string& text) {
  return failure_of([&] { decode_pointer_record(text, "source"); }) == ErrorKind::Data;
}
bool is_refused(const Json& document) {
  return is_refused(document.dump());
}

TEST(PointerRecord, ComesBackAsItWasEncodedAlsoBeforeTheFirstPushIsDone) {
  PointerRecord without = valid_record();
  without.current.reset();
  without.previous.clear();
  for (const PointerRecord& record : {valid_record(), without, PointerRecord{}})
    EXPECT_EQ(decode_pointer_record(encode(record), "source"), record);
}

TEST(PointerRecord, IsReadableJson) {
  const Json current = valid_document()["current"];
  EXPECT_EQ(current["generation"], 9);
  EXPECT_EQ(current["build_id"], "09090909090909090909090909090909");
  EXPECT_EQ(current["checksum"], "fedcba9876543210");
  EXPECT_EQ(current["kind"], "bloom");
  EXPECT_EQ(current["adds_from"], "1699999999000-3");
  EXPECT_EQ(current["restores"], 7);
  EXPECT_EQ(valid_document()["chunks_removed_to"], "abababababababababababababababab");
  EXPECT_EQ(valid_document()["bypass_until"], 1'700'000'000);
  EXPECT_EQ(valid_document()["adds_trimmed_to"], "1699999990000-0");
  EXPECT_EQ(valid_document()["adds_log"]["ordinal"], 12'345);
}

TEST(PointerRecord, IgnoresMembersOfLaterVersions) {
  Json document = valid_document();
  document["later"] = true;
  document["current"]["later"] = Json::array({1, 2});
  EXPECT_EQ(decode_pointer_record(document.dump(), "source").current, record_of_generation(9));
}

TEST(PointerRecord, OfAnotherFormatIsIncompatible) {
  Json document = valid_document();
  document["format"] = 3;
  EXPECT_EQ(failure_of([&] { decode_pointer_record(document.dump(), "source"); }), ErrorKind::Incompatible);
}

TEST(PointerRecord, IsRefusedWhenAMemberWasChanged) {
  Json document = Json::parse(encode(valid_record()));
  document["current"]["adds_from"] = "0-0";
  EXPECT_TRUE(is_refused(document));
}

TEST(PointerRecord, IsRefusedWithoutAnyOfItsMembers) {
  const Json valid = valid_document();
  for (const char* path : {"", "/current"}) {
    const Json::json_pointer object(path);
    for (const auto& [member, value] : valid.at(object).items()) {
      Json document = valid;
      document.at(object).erase(member);
      EXPECT_TRUE(is_refused(document)) << member;
    }
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
      EXPECT_TRUE(is_refused(document)) << member << " " << wrong;
    }
  }
}

TEST(PointerRecord, IsRefusedWhenAValueIsOutOfRange) {
  for (const auto& [member, value] :
       std::vector<std::pair<const char*, Json>>{{"generation", 0},
                                                 {"generation", UINT64_MAX},
                                                 {"build_id", "0909"},
                                                 {"build_id", std::string(32, 'g')},
                                                 {"build_id", std::string(32, 'A')},
                                                 {"build_id", std::string(34, '0')},
                                                 {"build_id", ""},
                                                 {"push_id", "0909"},
                                                 {"adds_from", "17-"},
                                                 {"adds_from", ""},
                                                 {"restores", 9},
                                                 {"checksum", "0x12345678901234"},
                                                 {"checksum", "+123456789012345"},
                                                 {"bytes", 0},
                                                 {"bytes", 4095},
                                                 {"bytes", UINT64_MAX},
                                                 {"bytes", std::uint64_t{1} << 48},
                                                 {"as_of", UINT64_MAX},
                                                 {"as_of", kFarthestMoment + 1},
                                                 {"kind", ""},
                                                 {"kind", std::string(1000, 'k')}}) {
    Json document = valid_document();
    document["current"][member] = value;
    EXPECT_TRUE(is_refused(document)) << member << " " << value;
  }
}

TEST(PointerRecord, IsRefusedWhenTheOlderGenerationsAreWrong) {
  const auto refuses = [](const Json& previous) {
    Json document = valid_document();
    document["previous"] = previous;
    EXPECT_TRUE(is_refused(document)) << previous;
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
  Json without_current = valid_document();
  without_current["current"] = nullptr;
  EXPECT_TRUE(is_refused(without_current));
}

TEST(PointerRecord, IsBypassedWithoutEndIfTheEndIsNoMoment) {
  for (const Json& end :
       {Json(-1), Json(kFarthestMoment + 1), Json("soon"), Json(1.5), Json(true), Json(0)}) {
    Json document = valid_document();
    document["bypass_until"] = end;
    EXPECT_EQ(decode_pointer_record(document.dump(), "source").bypass_until, 0) << end;
  }
  PointerRecord record = valid_record();
  record.bypass_until.reset();
  EXPECT_EQ(decode_pointer_record(encode(record), "source"), record);
}

TEST(PointerRecord, IsRefusedWhenItIsNoRecordAtAll) {
  const std::string deep(60'000, '[');
  for (const std::string& text :
       {std::string("[]"), std::string("null"), std::string("{}"), std::string("\0", 1),
        std::string("{\"format\":\"1\"}"), std::string("\xff\xfe"), deep}) {
    EXPECT_TRUE(is_refused(text)) << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace keysieve::test
