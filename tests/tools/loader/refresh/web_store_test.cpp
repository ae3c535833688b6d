// A store behind a web server, with everything that goes wrong between the two: what is live stays live.
#include <filesystem>
#include <fstream>

#include "tests/support/certificates.hpp"
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
    url_ = server_.url("store", "https") + "?timeout=2m&ca_file=" + shared_certificates().path("ca.crt");
    site_.push("tags", kKeys, folder_url_);
    EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  }

  static std::string tls(const std::string& certificate) {
    return "ssl_certificate " + shared_certificates().path(certificate + ".crt") + ";\nssl_certificate_key " +
           shared_certificates().path(certificate + ".key") + ";\n";
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

  WebServer server_{{"ssl", tls("server")}};
  std::string folder_url_;
};

TEST_F(SetRefresherAtAWebServer, KeepsWhatIsLiveWhateverTheServerAnswers) {
  site_.push("tags", kMoreKeys, folder_url_);
  const std::string good = tls("server");
  const std::string chunks = "location ~ :[0-9]+$ ";
  const std::string pointer = "location ~ :current$ ";
  const std::vector<std::pair<std::string, std::string>> faults{
      {"no such folder", good + "location / { return 404; }"},
      {"an error", good + "location / { return 500; }"},
      {"overload", good + "location / { return 503; }"},
      {"no access", good + "location / { return 403; }"},
      {"no authorization", good + "location / { return 401; }"},
      {"a page instead of files", good + "location / { return 200 \"<html>sign in</html>\"; }"},
      {"a redirect without end", good + "location / { return 302 /store/again; }"},
      {"no pointer", good + pointer + "{ return 404; }"},
      {"an error for the pointer", good + pointer + "{ return 500; }"},
      {"a page instead of the pointer", good + pointer + "{ return 200 \"<html>sign in</html>\"; }"},
      {"no chunks", good + chunks + "{ return 404; }"},
      {"an error for chunks", good + chunks + "{ return 502; }"},
      {"a page instead of chunks", good + chunks + "{ return 200 \"<html>sign in</html>\"; }"},
      {"an expired certificate", tls("expired")},
      {"a certificate of another host", tls("other")}};
  for (const auto& [fault, directives] : faults) {
    server_.restart(directives);
    expect_stays_live(1, fault);
  }
  server_.kill();
  expect_stays_live(1, "no server");
  server_.start();
  server_.restart(good);
  expect_follows(kMoreKeys);
}

// A copy from before the store was wiped has a higher number than what came after.
TEST_F(SetRefresherAtAWebServer, IsNotMovedBackByAPointerFromBeforeTheStoreCountedAnew) {
  for (int i = 0; i < 2; ++i) site_.push("tags", kKeys, folder_url_);
  const std::string folder = server_.folder("store");
  const std::string old = server_.folder("old");
  fs::copy(folder, old, fs::copy_options::recursive);
  fs::last_write_time(old + "/.changes", fs::file_time_type::clock::now() - std::chrono::hours(1));
  fs::remove_all(folder);
  EXPECT_EQ(site_.push_begun_now("tags", kMoreKeys, folder_url_).generation, 1U);
  expect_follows(kMoreKeys);
  fs::rename(folder, server_.folder("new"));
  fs::rename(old, folder);
  expect_stays_live(1, "generation 3 of before");
  EXPECT_TRUE(site_.knows("tags", kMoreKeys));
  fs::rename(folder, old);
  fs::rename(server_.folder("new"), folder);
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
  server_.restart(tls("server") + "location ~ :bypass$ { return 404; }");
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

TEST_F(SetRefresherAtAWebServer, BringsInAddsAndBypasses) {
  site_.add("tags", kAdded, folder_url_);
  expect_follows(kAdded);
  site_.add("tags", kAddedLater, folder_url_);
  expect_follows(kAddedLater);
  replace("keysieve:bypass", "{}");
  EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  EXPECT_FALSE(site_.knows("tags", kKeys)) << "bypassed: nothing is attached";
  fs::remove(file("keysieve:bypass"));
  replace("keysieve:tags:current", bytes_of_file("keysieve:tags:current"));
  expect_follows(kAdded);
  expect_follows(kAddedLater);
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
