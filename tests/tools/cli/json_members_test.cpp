// The members that docs/command_line.md promises to scripts: all of them, and none that it does not know.
#include <filesystem>

#include "core/publisher/seen/new_segment.hpp"
#include "core/publisher/seen/seen_sizing.hpp"
#include "core/publisher/seen/seen_writer.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using ::testing::UnorderedElementsAreArray;

// Of what several verbs report of a snapshot.
const std::string kOfSnapshot =
    " file set build_id kind hash_count key_count known_absent_count value_bits members shard_count "
    "shard_bytes retrieval_bytes "
    "bytes "
    "bits_per_key fill_ratio "
    "public_key target_fpr estimated_fpr";

void expect_members(const Json& object, const std::string& names) {
  Words members;
  for (const auto& member : object.items()) members.push_back(member.key());
  EXPECT_THAT(members, UnorderedElementsAreArray(words_of(names)));
}

class JsonMembers : public KeysieveProgram {
 protected:
  const std::string keys_ = write("keys.txt", numbered_lines(100));
  const std::string snapshot_ = build("tags", numbered_lines(100));
};

TEST_F(JsonMembers, OfPlan) {
  const Json plan = json({"plan", "--keys", "100"});
  expect_members(plan,
                 "key_count target_fpr growth known_absent_count value_bits shard_bytes reason "
                 "bound_bits_per_key kinds");
  for (const Json& kind : plan.at("kinds")) {
    expect_members(kind,
                   "kind recommended bits_per_key hash_count shard_count bytes theoretical_fpr cache_lines "
                   "can_add can_remove can_count summary");
  }
}

TEST_F(JsonMembers, OfVerbsOfFiles) {
  expect_members(json({"build", "--set", "tags", keys_, "-o", path("new.ks")}),
                 "counters_bytes keys_read as_of" + kOfSnapshot);
  const std::string list = write("absent.txt", "a\n");
  expect_members(json({"build", "--set", "tags", keys_, "--known-absent", list, "-o", path("new.ks")}),
                 "counters_bytes keys_read known_absent_read keys_in_both_lists as_of" + kOfSnapshot);
  const Json inspected = inspect(snapshot_);
  expect_members(inspected,
                 "format keys_per_shard shard_fill_ratios seed as_of built_at valid_for_seconds adds_from "
                 "key_profile" +
                     kOfSnapshot);
  expect_members(inspected.at("keys_per_shard"), "least mean most");
  expect_members(inspected.at("shard_fill_ratios"), "least median most");
  const Words verify{"verify", snapshot_, "--keys", keys_};
  expect_members(json(verify), "false_negatives estimated_fpr target_fpr");
  expect_members(json(verify + Words{"--absent", write("other.txt", "a\n")}),
                 "false_negatives estimated_fpr target_fpr measured_fpr absent_keys");
  expect_members(json({"verify", path("new.ks"), "--keys", keys_, "--known-absent", list}),
                 "false_negatives estimated_fpr target_fpr known_absent_keys");
}

TEST_F(JsonMembers, OfKeygen) {
  expect_members(json({"keygen", path("sign.key")}), "file public_key");
  expect_members(json({"keygen", "--show", path("sign.key")}), "public_key");
}

TEST_F(JsonMembers, OfVerbsOfAStore) {
  expect_members(json({"push", snapshot_, store()}), "store dry_run replaces generation key_count bytes");
  expect_members(pull(), "generation" + kOfSnapshot);
  expect_members(json({"update", "tags", "--add", keys_, store()}),
                 "set store generation keys_read new_keys keys_to_remove removed_keys key_count "
                 "estimated_fpr as_of");
  expect_members(json({"add", "tags", "a", store()}), "set store appended last_position");
  const Json bypass = json({"bypass", "tags", "--store", store(), "--for", "1h"});
  expect_members(bypass, "set store bypass bypass_until of_set of_all loaders_woken");
  expect_members(bypass.at("of_set"), "until set_at");
  expect_members(json({"bypass", "--store", store(), "--show"}), "set store bypass of_all");
  const Json kept = json({"rollback", "tags", "--list", store()});
  expect_members(kept, "set store generations");
  expect_members(kept.at("generations").at(0),
                 "generation current restores as_of key_count kind bytes suspect_loss build_id adds_from");
  expect_members(json({"rollback", "tags", "--yes", store()}),
                 "set store replaces restores generation as_of replaced_as_of key_count lost_share kind");
  const std::string of_listed = "set generation build_id kind key_count bytes as_of failure";
  const Json listed = json({"list", store()});
  expect_members(listed, "store sets");
  expect_members(listed.at("sets").at(0), of_listed);
  const Json collected = json({"gc", store()});
  expect_members(collected, "store dry_run sets foreign_records");
  expect_members(collected.at("sets").at(0),
                 "set kept_generations pending_pushes removed_pushes removed_chunks adds_trimmed_to failure");
  for (const Words& options : {Words{}, Words{"--new"}}) {
    expect_members(json(Words{"seed", store()} + options), "store seed sets_of_other_seeds");
  }
  run({"bypass", "tags", "--off", "--store", store()});
  expect_members(json({"delete", "tags", "--yes", store()}),
                 "set store removed_generations removed_chunks still_bypassed");
}

TEST_F(JsonMembers, OfVerbsOfSharedMemory) {
  expect_members(json({"publish", snapshot_}),
                 "set publication directory key_count known_absent_count bytes");
  const Json answers = json({"query", "tags", "w1"});
  expect_members(answers, "set answers");
  expect_members(answers.at("answers").at(0), "key answer");
  expect_members(json({"bypass", "tags", "--for", "1h"}), "set bypass bypass_until");
  expect_members(json({"bypass", "tags"}), "set bypass");
  expect_members(json({"list"}), "directory sets");
  const Json doctor = json({"doctor"});
  expect_members(doctor, "directory severity findings");
  expect_members(doctor.at("findings").at(0), "severity subject code fact runbook");
}

TEST_F(JsonMembers, OfStatus) {
  publish(snapshot_);
  std::filesystem::create_directory(shared_memory() + "/shop");
  const Json status = Json::parse(keysieve({"status", "--json", "tags", "shop"}).output);  // shop is missing
  const std::string of_directory = "directory visible_bytes pinned_bytes huge_pages sets seen_sets";
  expect_members(status, of_directory);
  expect_members(
      status.at("sets").at(0),
      "set availability code reason troubles bypass bypass_until store_bypass store_bypass_until publication "
      "generation kind key_profile key_count known_absent_count value_bits members bytes huge_page_bytes "
      "estimated_fpr as_of "
      "published_at "
      "valid_until last_confirmed_at heartbeat_at added_keys layer_bytes layer_fill_ratio "
      "layer_estimated_fpr");
  expect_members(status.at("sets").at(1), "set availability code reason troubles");
  expect_members(json({"status", "--readers", "tags"}), of_directory + " readers unreadable_processes");
}

TEST_F(JsonMembers, OfStatusOfSeenSets) {
  const std::string always = "set availability reason bypass bypass_until on_unavailable looked_at troubles";
  SeenWriter writer(shared_memory(), "clicks", std::nullopt);
  expect_members(Json::parse(keysieve({"status", "--json"}).output).at("seen_sets").at(0), always);
  writer.create({42}, OnUnavailable::New);
  writer.append({.window = {600, 1200, 1800}, .capacity = 100, .rate = 0.01, .size = seen_size(100, 0.01)},
                0);
  expect_members(json({"status"}).at("seen_sets").at(0),
                 always +
                     " windows filters estimated_window_keys window_capacity estimated_fpr target_fpr bytes "
                     "oldest_begins_at window_begins_at window_ends_at");
  remove_segment(writer.filters()[0].segment.key());
}

}  // namespace
}  // namespace keysieve::test
