#include <filesystem>
#include <fstream>

#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

// A store of plain files, whose records lie open.
class Gc : public KeysieveProgram {
 protected:
  Gc() { push(build("tags", numbered_lines(100)), folder_); }

  // What it reports of the only set.
  [[nodiscard]] Json collected(const Words& options = {}) const {
    return json(Words{"gc", folder_} + options).at("sets").at(0);
  }

  void put(const std::string& key, const std::string& value = "x") const {
    std::ofstream(path("folder/" + key)) << value;
  }
  [[nodiscard]] bool exists(const std::string& key) const {
    return std::filesystem::exists(path("folder/" + key));
  }

  const std::string folder_ = "dir:" + path("folder");
  const std::string orphan_ = "keysieve:tags:" + std::string(32, 'a') + ":0";
};

TEST_F(Gc, SaysWhatItWouldRemoveAndRemovesIt) {
  put(orphan_);
  put("keysieve:sessions");
  EXPECT_THAT(said({"gc", "--dry-run", folder_}),
              ContainsRegex("chunks to remove +of pushes +adds trimmed to\ntags +1 +0 +1 +1 +-\n"));
  EXPECT_THAT(json({"gc", "--dry-run", folder_}), has({{"dry_run", true}}));
  EXPECT_THAT(collected({"--dry-run"}), has({{"removed_chunks", 1}}));
  EXPECT_TRUE(exists(orphan_));
  EXPECT_THAT(said({"gc", folder_}),
              AllOf(ContainsRegex("chunks removed +of pushes +adds trimmed to\ntags +1 +0 +1 +1 +-\n"),
                    HasSubstr(folder_ + ": 1 other records begin with keysieve: and are left")));
  EXPECT_FALSE(exists(orphan_));
  EXPECT_THAT(collected(), has({{"removed_chunks", 0}}));
  std::filesystem::create_directory(path("empty"));
  EXPECT_EQ(said({"gc", "dir:" + path("empty")}), "dir:" + path("empty") + ": holds no sets\n");
}

TEST_F(Gc, TreatsOldPushesAsInterruptedAndYoungerOnesWhenTold) {
  const std::string record = path("folder/keysieve:tags:current");
  Json pointer = Json::parse(read(record));
  pointer["pending"].push_back({{"push_id", std::string(32, 'a')},
                                {"chunk_count", 1},
                                {"started_at", std::time(nullptr) - 7200},
                                {"adds_from", "0-0"}});
  pointer.erase("record_checksum");  // as earlier versions wrote it
  std::ofstream(record) << pointer.dump();
  put(orphan_);
  EXPECT_THAT(collected(), has({{"pending_pushes", 1}}));
  EXPECT_THAT(collected({"--older-than", "3h"}), has({{"pending_pushes", 1}}));
  EXPECT_TRUE(exists(orphan_));
  EXPECT_THAT(collected({"--older-than", "1h"}), has({{"removed_chunks", 1}}));
  EXPECT_FALSE(exists(orphan_));
  EXPECT_EQ(Json::parse(read(record)).at("pending").size(), 0U);
}

TEST_F(Gc, SkipsASetWithADamagedRecordAndDoesTheOthers) {
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

}  // namespace
}  // namespace keysieve::test
