// A store behind a web server, with everything that goes wrong between the two: what is live stays live.
#include <filesystem>
#include <fstream>

#include "tests/support/matchers.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/web_server.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"
#include "tools/records/chunk.hpp"

namespace keysieve::test {
namespace {

namespace fs = std::filesystem;

class SetRefresherAtAWebServer : public SetRefresherTest {
 protected:
  SetRefresherAtAWebServer() {
    folder_url_ = "dir:" + server_.make_folder("store");
    url_ = server_.url("store") + "?timeout=2m";
    site_.push("tags", kKeys, folder_url_);
    EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  }

  [[nodiscard]] std::string file(const std::string& key) const { return server_.folder("store") + "/" + key; }
  [[nodiscard]] std::string bytes_of_file(const std::string& key) const {
    std::ifstream stream(file(key), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  // Replaces a file as a copy tool would, and tells the store that something has changed.
  void replace(const std::string& key, const std::string& bytes) const {
    const std::string folder = server_.folder("store");
    std::ofstream(folder + "/" + key, std::ios::binary) << bytes;
    static int number = 0;
    std::ofstream(folder + "/.changes") << "keysieve changes " << ++number << "\n";
  }

  void expect_stays_live(std::uint64_t generation, const std::string& why) {
    EXPECT_NE(refresh().trouble, Trouble::None) << why;
    EXPECT_EQ(refresher_->outcome().live->generation, generation) << why;
    EXPECT_TRUE(site_.knows("tags", kKeys)) << why;
    EXPECT_FALSE(site_.knows("tags", kTwiceAsManyKeys)) << why << ": it answers, and not maybe to everything";
  }
  void expect_follows(KeyRange keys) {
    EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
    EXPECT_TRUE(site_.knows("tags", keys));
  }

  WebServer server_;
  std::string folder_url_;
};

// What a server may answer instead of all files: tests/tools/stores/http_store_test.cpp.
TEST_F(SetRefresherAtAWebServer, KeepsWhatIsLiveWhateverTheServerAnswersForARecord) {
  site_.push("tags", kMoreKeys, folder_url_);
  for (const std::string record : {":current", ":[0-9]+"}) {
    for (const std::string answer : {"404", "500", "502", "403", "200 \"<html>sign in</html>\""}) {
      server_.restart("location ~ " + record + "$ { return " + answer + "; }");
      expect_stays_live(1, record + answer);
    }
  }
  server_.kill();
  expect_stays_live(1, "no server");
  server_.start();
  server_.restart("");
  expect_follows(kMoreKeys);
}

// As a mirror does that copies the file of changes last.
TEST_F(SetRefresherAtAWebServer, LooksAgainAtTheServerWhenAPushOvertakesIt) {
  const SnapshotRecord overtaken = site_.push("tags", kMoreKeys, folder_url_);
  const std::string changes = bytes_of_file(".changes");
  events_.before_fetch = [&, is_first = true]() mutable {
    if (!std::exchange(is_first, false)) return;
    site_.push("tags", kTwiceAsManyKeys, folder_url_);
    fs::remove(file(chunk_key("keysieve", "tags", overtaken.push_id, 0)));
    std::ofstream(file(".changes"), std::ios::binary) << changes;
  };
  refresh();
  EXPECT_TRUE(refresher_->has_more());
  expect_follows(kTwiceAsManyKeys);
}

TEST_F(SetRefresherAtAWebServer, TellsNobodyToPushAgainWhereNobodyCan) {
  const SnapshotRecord record = site_.push("tags", kMoreKeys, folder_url_);
  remove_record(*open_store(folder_url_), chunk_key("keysieve", "tags", record.push_id, 0));
  refresh();
  EXPECT_THAT(refresh(), IsRefused());
  EXPECT_THAT(refresher_->outcome().reason, Not(HasSubstr("push again")));
  remove_record(*open_store(folder_url_), "keysieve:tags:current");
  EXPECT_EQ(trouble(), Trouble::NeverPushed);
  EXPECT_THAT(refresher_->outcome().reason, Not(HasSubstr("push again")));
}

TEST_F(SetRefresherAtAWebServer, KeepsABypassWhoseRecordACacheHasNeverSeen) {
  replace("keysieve:bypass", "{}");
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_FALSE(site_.knows("tags", kKeys));
  server_.restart("location ~ :bypass$ { return 404; }");
  store_.use(now_, [](Store& store) {
    store.distrust_copies();
    return true;
  });
  store_.close();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(trouble(), Trouble::StoreUnreachable);
    EXPECT_FALSE(site_.knows("tags", kKeys));
  }
}

// It was cut on its way, or its writer was killed. What comes before the cut is taken.
TEST_F(SetRefresherAtAWebServer, SaysThatALogEndsInTheMiddleOfAnEntry) {
  const std::string name = ".log-keysieve:tags:adds";
  site_.add("tags", kAdded, folder_url_);
  const std::string first = bytes_of_file(name);
  site_.add("tags", kAddedLater, folder_url_);
  const std::string log = bytes_of_file(name);
  for (const std::size_t size : {log.size() - 1, log.size() - 200, first.size() + 5}) {
    replace(name, log.substr(0, size));
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(refresh(), IsRefused()) << size;
      EXPECT_TRUE(site_.knows("tags", kAdded)) << size;
    }
  }
  // As the next push does, which has nothing to trim.
  open_store(folder_url_)->trim("keysieve:tags:adds", {});
  expect_follows(kAdded);
  replace(name, log);
  expect_follows(kAddedLater);
}

TEST_F(SetRefresherAtAWebServer, DoesNotReadALongLogThatWasCutAgainRightAway) {
  site_.add("tags", {7000, 300}, folder_url_);  // of which one request takes 256
  site_.add("tags", kAdded, folder_url_);
  const std::string name = ".log-keysieve:tags:adds";
  const std::string log = bytes_of_file(name);
  replace(name, log.substr(0, log.size() - 1));
  EXPECT_THAT(refresh(), IsRefused());
  EXPECT_FALSE(refresher_->has_more());
}

TEST_F(SetRefresherAtAWebServer, PublishesNothingBesideALogThatWasCut) {
  site_.add("tags", kAdded, folder_url_);
  const std::string name = ".log-keysieve:tags:adds";
  replace(name, bytes_of_file(name).substr(0, 100));
  site_.wipe_shared_memory();
  fs::remove_all(site_.cache());
  for (int i = 0; i < 4; ++i) {
    if (i % 2 == 0) start();
    EXPECT_THAT(refresh(), IsRefused());
    EXPECT_EQ(site_.live_generation("tags"), 0U);
  }
}

}  // namespace
}  // namespace keysieve::test
