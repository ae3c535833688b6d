// What the verbs do with seen sets: bypass, query, status and delete.
#include <sys/shm.h>

#include <filesystem>
#include <thread>

#include "core/publisher/seen/new_segment.hpp"
#include "core/publisher/seen/seen_sizing.hpp"
#include "core/publisher/seen/seen_writer.hpp"
#include "core/publisher/shm/bypass.hpp"
#include "core/worker/seen/seen_reader.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/hash_key.hpp"
#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/transfer/stored_sets.hpp"

namespace keysieve::test {
namespace {

constexpr HashSeed kSeed{42};

void begin(SeenWriter& writer, OnUnavailable answer) {
  writer.create(kSeed, answer);
  writer.append({.window = {600, 1200, 1800}, .capacity = 100, .rate = 1e-6, .size = seen_size(100, 1e-6)},
                0);
}

// A loader that has begun "clicks", with one window.
class LoaderOfClicks {
 public:
  explicit LoaderOfClicks(const std::string& directory, OnUnavailable answer = OnUnavailable::New)
      : writer_(directory, "clicks", std::nullopt) {
    begin(writer_, answer);
  }
  LoaderOfClicks(const LoaderOfClicks&) = delete;
  LoaderOfClicks& operator=(const LoaderOfClicks&) = delete;
  ~LoaderOfClicks() { writer_.clear(); }

  SeenWriter* operator->() noexcept { return &writer_; }

 private:
  SeenWriter writer_;
};

class SeenSets : public KeysieveProgram {
 protected:
  SeenReader reader() const { return {{.directory = shared_memory()}, "clicks"}; }
  void add(const std::string& key) const {
    SeenReader reader = this->reader();
    ASSERT_TRUE(reader.follow()) << reader.reason();
    static_cast<void>(reader.add_if_new(hash_key(key, kSeed)));
  }
  [[nodiscard]] Json status() const {
    return Json::parse(keysieve({"status", "--json"}).output).at("seen_sets").at(0);
  }
  [[nodiscard]] std::string folder() const { return shared_memory() + "/seen.d/clicks"; }
};

// This process has no rights while the object is there, even if a case ends by an exception.
class AsNobody {
 public:
  AsNobody() { EXPECT_EQ(::seteuid(kNobody), 0); }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() { EXPECT_EQ(::seteuid(0), 0); }
};

using BypassOfSeenSets = SeenSets;

TEST_F(BypassOfSeenSets, LastsUntilItIsSwitchedOffAndSaysWhatWorkersAnswer) {
  LoaderOfClicks loader(shared_memory());
  SeenReader worker = reader();
  ASSERT_TRUE(worker.follow());
  EXPECT_THAT(
      said({"bypass", "clicks"}),
      HasSubstr("on, until `--off`: workers answer as on_unavailable says: \"new\", every key is new"));
  EXPECT_FALSE(worker.follow()) << "from the next call on";
  EXPECT_EQ(worker.availability(), Availability::Bypassed);
  EXPECT_EQ(worker.on_unavailable(), OnUnavailable::New);
  EXPECT_THAT(said({"bypass", "clicks", "--off"}), HasSubstr("off: workers add keys again"));
  EXPECT_TRUE(worker.follow());
}

TEST_F(BypassOfSeenSets, CanEndByItself) {
  LoaderOfClicks loader(shared_memory(), OnUnavailable::Seen);
  const Json report = json({"bypass", "clicks", "--for", "2h"});
  EXPECT_THAT(report, has({{"set", "clicks"}, {"bypass", true}, {"on_unavailable", "seen"}}));
  EXPECT_EQ(loader->page().bypass_until, report.at("bypass_until").get<UnixSeconds>());
  EXPECT_THAT(status(), has({{"bypass", true}, {"bypass_until", report.at("bypass_until")}}));
}

TEST_F(BypassOfSeenSets, IsNotLostBesideALoaderThatChangesTheWindows) {
  LoaderOfClicks loader(shared_memory());
  std::atomic<bool> is_over = false;
  std::thread windows([&] {
    while (!is_over) loader->show();
  });
  for (int i = 0; i < 2000; ++i) {
    set_seen_bypass(shared_memory(), "clicks", 0);
    ASSERT_TRUE(loader->state().is_bypassed);
    set_seen_bypass(shared_memory(), "clicks", kBypassOver);
    ASSERT_FALSE(loader->state().is_bypassed);
  }
  is_over = true;
  windows.join();
  EXPECT_EQ(loader->state().size, 1U);
}

TEST_F(BypassOfSeenSets, SwitchesBothSetsOfAName) {
  LoaderOfClicks loader(shared_memory());
  publish(build("clicks", "a\n", {}, "clicks"));
  EXPECT_THAT(said({"bypass", "clicks"}),
              AllOf(HasSubstr("lookup answers maybe"), HasSubstr("every key is new")));
  EXPECT_FALSE(reader().follow());
  EXPECT_EQ(keysieve({"query", "clicks", "b"}).output, "maybe\n") << "the published one is asked";
  run({"bypass", "clicks", "--off"});
}

TEST_F(BypassOfSeenSets, RefusesASetThatWasNeverBegunAndAStore) {
  std::filesystem::create_directories(folder());
  EXPECT_THAT(refusal(66, {"bypass", "clicks"}), HasSubstr("seen.d/clicks/page: No such file or directory"));
  push(build("tags", "a\n"));
  EXPECT_EQ(refusal(64, {"bypass", "clicks", "--store", store()}),
            "clicks is a seen set, which is bypassed on each host by itself: keysieve bypass clicks");
}

using QueryOfSeenSets = SeenSets;

TEST_F(QueryOfSeenSets, SaysWhetherAKeyWasSeenAndAddsNothing) {
  LoaderOfClicks loader(shared_memory());
  add("ada");
  for (int i = 0; i < 2; ++i) {
    const ProgramResult result = keysieve({"query", "clicks", "ada", "bob"});
    EXPECT_EQ(result.output, "seen  ada\nnew   bob\n");
    EXPECT_EQ(result.exit_status, 0);
  }
  EXPECT_EQ(keysieve({"query", "clicks", "bob"}).exit_status, 1);
  EXPECT_EQ(keysieve({"query", "clicks", "--stdin"}, "ada\nbob\n").output, "ada\n");
  EXPECT_EQ(keysieve({"query", "clicks", "--stdin", "-v"}, "ada\nbob\n").output, "bob\n");
  EXPECT_EQ(Json::parse(keysieve({"query", "clicks", "ada", "bob", "--json"}).output).at("answers"),
            (Json{{{"key", "ada"}, {"answer", "seen"}}, {{"key", "bob"}, {"answer", "new"}}}));
}

TEST_F(QueryOfSeenSets, FailsWhenItCannotKnow) {
  LoaderOfClicks loader(shared_memory());
  run({"bypass", "clicks"});
  EXPECT_EQ(refusal(2, {"query", "clicks", "ada"}),
            "seen set clicks: bypassed by an operator: it cannot be known whether a key was seen");
  run({"bypass", "clicks", "--off"});
  loader->clear();
  EXPECT_THAT(refusal(2, {"query", "clicks", "ada"}), HasSubstr("has no filter yet"));
}

using StatusOfSeenSets = SeenSets;

TEST_F(StatusOfSeenSets, ShowsABypassAsWhatItIsAndNotAsTrouble) {
  LoaderOfClicks loader(shared_memory());
  add("ada");
  run({"bypass", "clicks", "--for", "2h"});
  EXPECT_THAT(
      said({"status"}),
      AllOf(ContainsRegex("clicks +bypassed +none +≈ 1 +100 +1 "),
            ContainsRegex("clicks: bypassed by an operator, until 20[^;]*; on_unavailable is new\n")));
  EXPECT_THAT(said({"status", "--wide"}), ContainsRegex("on_unavailable\nclicks .* ago +1 +1 .* new\n"));
  EXPECT_THAT(status(), has({{"availability", "bypassed"}, {"troubles", Json::array()}, {"windows", 1}}));
  run({"bypass", "clicks", "--off"});
  EXPECT_THAT(status(), has({{"availability", "ready"}, {"bypass", false}, {"bypass_until", nullptr}}));
  loader->clear();
  EXPECT_THAT(status(), has({{"availability", "missing"}, {"troubles", {"seen_missing"}}}));
}

class DeleteOfSeenSets : public SeenSets {
 protected:
  void save_clicks() const {
    const auto opened = opened_store();
    const std::string entry = "of a seen set";
    opened->append(seen_log(*opened, "clicks"), {&entry, 1});
  }
  [[nodiscard]] bool is_saved() const { return holds_seen_set(*opened_store(), "clicks"); }
  // As keysieved leaves a set that a reload has taken away. Returns the key of its memory.
  [[nodiscard]] std::uint32_t leave_clicks() const {
    SeenWriter writer(shared_memory(), "clicks", std::nullopt);
    begin(writer, OnUnavailable::New);
    writer.leave(unix_now());
    return writer.filters()[0].segment.key();
  }
  static bool has_memory(std::uint32_t key) { return ::shmget(static_cast<key_t>(key), 0, 0) >= 0; }

  const Words delete_{"delete", "clicks", "--yes"};
  const Words with_store_{"--store", store()};
};

TEST_F(DeleteOfSeenSets, RemovesTheMemoryAndTheFolderAndWhatWasSaved) {
  save_clicks();
  const std::uint32_t key = leave_clicks();
  SeenReader worker = reader();
  ASSERT_TRUE(worker.follow());
  const Json report = json(delete_ + with_store_);
  EXPECT_THAT(report, has({{"set", "clicks"}, {"store", store()}}));
  EXPECT_GT(report.at("removed_bytes"), 0);
  EXPECT_FALSE(std::filesystem::exists(folder()));
  EXPECT_FALSE(has_memory(key));
  EXPECT_FALSE(is_saved());
  EXPECT_FALSE(worker.follow());
  EXPECT_EQ(refusal(66, delete_ + with_store_),
            "directory " + shared_memory() + " and " + store() + ": no seen set \"clicks\" is here");
}

TEST_F(DeleteOfSeenSets, LeavesTheStoreAloneUnlessItIsNamed) {
  save_clicks();
  static_cast<void>(leave_clicks());
  EXPECT_THAT(said(delete_), ContainsRegex("deleted here +1 filter of [0-9.]+ KiB in "));
  EXPECT_TRUE(is_saved());
  EXPECT_THAT(json(delete_ + with_store_), has({{"removed_bytes", nullptr}}));
  EXPECT_FALSE(is_saved());
}

TEST_F(DeleteOfSeenSets, IsRefusedWhileALoaderHasTheSet) {
  save_clicks();
  LoaderOfClicks loader(shared_memory());
  EXPECT_THAT(
      refusal(75, delete_ + with_store_),
      HasSubstr("; keysieved would begin the set again, so remove its [[seen]] and reload keysieved first"));
  EXPECT_TRUE(is_saved());
  EXPECT_TRUE(reader().follow());
}

TEST_F(DeleteOfSeenSets, WarnsOfALoaderThatIsStoppedAndMayBeginItAgain) {
  LoaderOfClicks(shared_memory())->looked(unix_now());
  const ProgramResult result = keysieve(delete_);
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.errors, HasSubstr("if keysieved has set \"clicks\" configured, it begins it again"));
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

TEST_F(DeleteOfSeenSets, AsksFirst) {
  const std::uint32_t key = leave_clicks();
  EXPECT_THAT(refusal(64, {"delete", "clicks"}),
              AllOf(HasSubstr("seen set \"clicks\": 1 filter of "), HasSubstr("; --yes does it")));
  EXPECT_EQ(keysieve_typing("n\n", {"delete", "clicks"}).exit_status, 1);
  EXPECT_TRUE(has_memory(key));
  EXPECT_EQ(keysieve_typing("y\n", {"delete", "clicks"}).exit_status, 0);
  EXPECT_FALSE(has_memory(key));
}

TEST_F(DeleteOfSeenSets, RemovesAFolderThatAKilledLoaderHasLeftAndADamagedPage) {
  std::filesystem::create_directories(folder());
  EXPECT_EQ(keysieve(delete_).exit_status, 0);
  EXPECT_FALSE(std::filesystem::exists(folder()));
  const std::uint32_t key = leave_clicks();
  std::filesystem::resize_file(folder() + "/page", 100);
  EXPECT_EQ(keysieve(delete_).exit_status, 0);
  EXPECT_FALSE(std::filesystem::exists(folder()));
  remove_segment(key);  // only the page knew it
}

TEST_F(DeleteOfSeenSets, SaysHowWhenItWasTakenForAPublishedOne) {
  save_clicks();
  EXPECT_EQ(refusal(66, delete_ + Words{store()}),
            store() + ": \"clicks\" is a seen set there: keysieve delete clicks --store " + store());
  EXPECT_THAT(refusal(64, {"delete", "clicks"}), HasSubstr("URL is missing: directory "));
  EXPECT_EQ(refusal(64, {"delete", store()}), "SET is missing");
}

TEST_F(DeleteOfSeenSets, WorksAsRootForTheUserOfTheLoader) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  permit(shared_memory(), 0777);
  permit(path("."), 0755);
  const std::uint32_t key = [this] {
    const AsNobody nobody;
    return leave_clicks();
  }();
  ASSERT_TRUE(has_memory(key));
  EXPECT_EQ(keysieve(delete_).exit_status, 0);
  EXPECT_FALSE(has_memory(key));
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

}  // namespace
}  // namespace keysieve::test
