#include <filesystem>
#include <fstream>

#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

// A store of plain files, whose records lie open.
class Gc : public KeysieveProgram {
 protected:
  Gc() { static_cast<void>(said({"push", build("tags", numbered_lines(100)), folder_})); }

  void put(const std::string& key, const std::string& value = "x") const {
    std::ofstream(path("folder/" + key)) << value;
  }
  [[nodiscard]] bool has(const std::string& key) const {
    return std::filesystem::exists(path("folder/" + key));
  }

  const std::string folder_ = "dir:" + path("folder");
  const std::string orphan_ = "keysieve:tags:" + std::string(32, 'a') + ":0";
};

TEST_F(Gc, RemovesWhatNoRecordKnows) {
  put(orphan_);
  EXPECT_THAT(said({"gc", folder_}),
              ContainsRegex("chunks removed +of pushes +adds trimmed to\ntags +1 +0 +1 +1 +-\n"));
  EXPECT_FALSE(has(orphan_));
  EXPECT_EQ(json({"gc", folder_}).at("sets").at(0).at("removed_chunks"), 0);
  static_cast<void>(said({"pull", folder_, "tags", "-o", path("pulled.ks")}));
  EXPECT_EQ(read(path("pulled.ks")), read(path("tags.ks")));
}

TEST_F(Gc, SaysWhatItWouldRemove) {
  put(orphan_);
  EXPECT_THAT(said({"gc", "--dry-run", folder_}),
              ContainsRegex("chunks to remove +of pushes +adds trimmed to\ntags +1 +0 +1 +1 +-\n"));
  const Json collected = json({"gc", "--dry-run", folder_});
  EXPECT_EQ(collected.at("dry_run"), true);
  EXPECT_EQ(collected.at("sets").at(0).at("removed_chunks"), 1);
  EXPECT_TRUE(has(orphan_));
}

TEST_F(Gc, TakesOldPushesForInterruptedAndYoungOnesWhenTold) {
  const std::string record = path("folder/keysieve:tags:current");
  Json pointer = Json::parse(read(record));
  pointer["pending"].push_back({{"push_id", std::string(32, 'a')},
                                {"chunk_count", 1},
                                {"started_at", std::time(nullptr) - 7200},
                                {"adds_from", "0-0"}});
  pointer.erase("record_checksum");  // as earlier versions wrote it
  std::ofstream(record) << pointer.dump();
  put(orphan_);
  EXPECT_EQ(json({"gc", folder_}).at("sets").at(0).at("pending_pushes"), 1);
  EXPECT_EQ(json({"gc", "--older-than", "3h", folder_}).at("sets").at(0).at("pending_pushes"), 1);
  EXPECT_TRUE(has(orphan_));
  EXPECT_EQ(json({"gc", "--older-than", "1h", folder_}).at("sets").at(0).at("removed_chunks"), 1);
  EXPECT_FALSE(has(orphan_));
  EXPECT_EQ(Json::parse(read(record)).at("pending").size(), 0U);
}

TEST_F(Gc, LeavesAloneWhatItDoesNotKnow) {
  put("keysieve:sessions");
  put("other:tags:" + std::string(32, 'a') + ":0");
  EXPECT_THAT(said({"gc", folder_}),
              HasSubstr(folder_ + ": 1 other records begin with keysieve: and are left"));
  EXPECT_TRUE(has("keysieve:sessions"));
  EXPECT_TRUE(has("other:tags:" + std::string(32, 'a') + ":0"));
}

TEST_F(Gc, LeavesASetWithADamagedRecordAndDoesTheOthers) {
  const Words before = names_in(path("folder"));
  put("keysieve:tags:current", "{");
  put("keysieve:shop:" + std::string(32, 'a') + ":0");
  const ProgramResult result = keysieve({"gc", folder_});
  EXPECT_EQ(result.exit_status, 65);
  EXPECT_THAT(result.output, ContainsRegex("shop +0 +0 +1 +1 +-\n"));
  EXPECT_THAT(result.errors, AllOf(StartsWith("keysieve: set \"tags\" is left as it is: " + folder_),
                                   HasSubstr("not JSON")));
  EXPECT_EQ(names_in(path("folder")), before);
}

TEST_F(Gc, SaysThatAStoreIsEmpty) {
  std::filesystem::create_directory(path("empty"));
  EXPECT_EQ(said({"gc", "dir:" + path("empty")}), "dir:" + path("empty") + ": holds no sets\n");
}

TEST_F(Gc, MakesNoStore) {
  EXPECT_THAT(refusal(69, {"gc", "dir:" + path("none")}), HasSubstr(path("none")));
  EXPECT_FALSE(std::filesystem::exists(path("none")));
  EXPECT_THAT(refusal(64, {"gc", "tags.ks"}), HasSubstr("tags.ks"));
}

}  // namespace
}  // namespace keysieve::test
