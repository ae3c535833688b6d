// What is particular to a store behind a web server: what a poll costs, and faults of servers and networks.
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/support/canned_server.hpp"
#include "tests/support/run_program.hpp"
#include "tests/tools/stores/http_store.hpp"

namespace keysieve::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kShortTimeout = "?timeout=300ms";

// Files that were written in this second may still change without a new ETag.
void age(const std::string& folder) {
  for (const auto& file : fs::directory_iterator(folder)) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
}

TEST_F(HttpStore, IsReadOnly) {
  serve();
  const auto store = open_store(url());
  EXPECT_EQ(store->abilities(), (StoreAbilities{.log = true, .durable = true}));
  const std::string read_only = ": this store is read-only";
  EXPECT_THAT(message_of<ErrorKind::Usage>([&] { put(*store, "a", "b"); }), HasSubstr(read_only));
  EXPECT_THAT(message_of<ErrorKind::Usage>([&] { store->put_if_absent({"a", "b"}); }), HasSubstr(read_only));
  EXPECT_THAT(message_of<ErrorKind::Usage>([&] { remove_record(*store, "a"); }), HasSubstr(read_only));
  EXPECT_THAT(message_of<ErrorKind::Usage>([&] { append(*store, {"a"}); }), HasSubstr(read_only));
  EXPECT_THAT(message_of<ErrorKind::Usage>([&] { store->keys_with_prefix(""); }),
              HasSubstr(": this store cannot list what it holds"));
}

TEST_F(HttpStore, ReadsAFolderWhateverItsNameAndWithOrWithoutASlash) {
  serve();
  const std::string name = "a b%c?d#e+猫";
  put(*open_store("dir:" + server_->make_folder("odd")), "keysieve:seed", "y");
  fs::rename(server_->folder("odd"), server_->folder(name));
  for (const std::string end : {"", "/"}) {
    EXPECT_EQ(seed(server_->url("a%20b%25c%3Fd%23e+猫" + end)), "y");
    EXPECT_EQ(seed(server_->url("tags" + end)), "x");
  }
}

// What keysieved does at each poll, if nothing has changed: records, log and its end, on a new connection.
TEST_F(HttpStore, AnswersAPollFromOneSmallFile) {
  serve();
  const auto writer = open_store("dir:" + folder_);
  append(*writer, {"a"});
  const StoreOpener open = opener_of(url());
  const std::vector<std::string> records{"keysieve:seed", "keysieve:tags:bypass", "keysieve:bypass"};
  const auto poll = [&] {
    const auto store = open(IfMissing::Refuse, Patience::None);
    EXPECT_THAT(store->get_many(records), ElementsAre("x", std::nullopt, std::nullopt));
    EXPECT_THAT(keys_in(*store), ElementsAre("a"));
    EXPECT_NE(store->end_of(kLog), kBeforeAll);
  };
  poll();
  EXPECT_THAT(new_answers(6), SizeIs(6)) << "one for a file that no store has";
  for (int i = 0; i < 3; ++i) {
    poll();
    EXPECT_THAT(new_answers(1), ElementsAre("200 /tags/.changes"));
  }
  put(*writer, "keysieve:tags:bypass", "{}");
  const auto store = open(IfMissing::Refuse, Patience::None);
  EXPECT_EQ(store->get("keysieve:tags:bypass"), "{}");
  EXPECT_THAT(keys_in(*store), ElementsAre("a"));
  EXPECT_THAT(new_answers(3), ElementsAre("200 /tags/.changes", "200 /tags/keysieve:tags:bypass",
                                          "200 /tags/.log-keysieve:tags:adds"));
}

// Once no other version can have the same ETag.
TEST_F(HttpStore, ReadsALogThatHasNotChangedNoMoreThanItMust) {
  serve();
  const auto writer = open_store("dir:" + folder_);
  append(*writer, {"a"});
  const StoreOpener open = opener_of(url());
  EXPECT_TRUE(eventually([&] {
    put(*writer, "keysieve:tags:bypass", "{}");
    EXPECT_THAT(keys_in(*open(IfMissing::Refuse, Patience::None)), ElementsAre("a"));
    return new_answers(2).back() == "304 /tags/.log-keysieve:tags:adds";
  }));
}

// Files of one size and one second have one ETag, whatever their age: a copy keeps their times.
TEST_F(HttpStore, SeesEachChangeThoughAllFilesAreOfOneSecond) {
  serve();
  const auto writer = open_store("dir:" + folder_);
  const StoreOpener open = opener_of(url());
  for (int i = 0; i < 12; ++i) {
    const std::string value = std::to_string(10 + i);
    put(*writer, "keysieve:tags:current", value);
    append(*writer, {value});
    age(folder_);
    const auto store = open(IfMissing::Refuse, Patience::None);
    EXPECT_EQ(store->get("keysieve:tags:current"), value);
    EXPECT_EQ(keys_in(*store).back(), value);
  }
}

TEST_F(HttpStore, WorksWithAServerThatHasNoETags) {
  serve({.directives = "etag off; if_modified_since off;"});
  const StoreOpener open = opener_of(url());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(open(IfMissing::Refuse, Patience::None)->get("keysieve:seed"), "x");
  EXPECT_THAT(new_answers(4), ElementsAre("200 /tags/.changes", "404 /tags/no-such-file",
                                          "200 /tags/keysieve:seed", "200 /tags/.changes"));
}

TEST_F(HttpStore, KeepsNoConnectionOpenPerRecord) {
  serve({.directives = "location = /status { stub_status; }"});
  const auto writer = open_store("dir:" + folder_);
  const auto keys = numbered("keysieve:tags:", 200);
  writer->put_many(records_of(keys, "x"));
  EXPECT_THAT(open_store(url())->get_immutable(keys), Each(Optional(std::string("x"))));
  const ProgramResult status = run_program({"/usr/bin/curl", {"-s", server_->url("status")}});
  int handled = 0;
  std::istringstream words(status.output.substr(status.output.find("requests") + 8));
  words >> handled;
  EXPECT_LE(handled, 1 + 8 + 1) << "the probe, eight connections, this question";
}

TEST_F(HttpStore, SaysThatAFolderIsNotAStore) {
  serve();
  server_->make_folder("empty");
  for (const std::string name : {"empty", "nowhere"}) {
    EXPECT_EQ(refusal<ErrorKind::Unavailable>(server_->url(name)),
              server_->url(name) +
                  "/.changes is missing: that is not the folder of a dir: store, or the server hides files "
                  "that begin with a dot");
  }
}

TEST_F(HttpStore, TakesNoPageForAStore) {
  serve({.directives = "location / { return 200 \"<html>sign in</html>\"; }"});
  EXPECT_EQ(refusal<ErrorKind::Unavailable>(url()),
            server_->url("tags/.changes") + " is something else: does the server show a page in its place?");
}

// As servers of applications in a browser do. A page is no bypass.
TEST_F(HttpStore, TakesNoPageForARecordThatIsMissing) {
  serve({.directives = "location / { try_files $uri /tags/index.html; }"});
  std::ofstream(folder_ + "/index.html") << "<html>shop</html>";
  const auto store = open_store(url());
  EXPECT_EQ(message_of<ErrorKind::Unavailable>([&] { store->get("keysieve:bypass"); }),
            server_->url("tags/no-such-file") +
                ": the server shows something, though there is no such file: it must answer 404, not with a "
                "page that stands for all others");
}

TEST_F(HttpStore, ReadsEverythingAgainWhenItsCopiesAreDistrusted) {
  serve();
  const StoreOpener open = opener_of(url());
  const auto get = [&] { return open(IfMissing::Refuse, Patience::None)->get("keysieve:tags:current"); };
  EXPECT_EQ(get(), std::nullopt);
  std::ofstream(folder_ + "/keysieve:tags:current") << "y";  // copied after the file of changes
  EXPECT_EQ(get(), std::nullopt) << "nothing says that it has changed";
  open(IfMissing::Refuse, Patience::None)->distrust_copies();
  EXPECT_EQ(get(), "y");
}

TEST_F(HttpStore, SaysWhatTheServerAnswered) {
  serve({.directives =
             "location /401/ { return 401; } location /403/ { return 403; } location /500/ { return 500; }"
             "location /503/ { return 503; } location /204/ { return 204; }"});
  EXPECT_EQ(refusal<ErrorKind::Login>(server_->url("401/")),
            server_->url("401/.changes") + ": the server asks for authorization (401)");
  EXPECT_EQ(refusal<ErrorKind::Permission>(server_->url("403/")),
            server_->url("403/.changes") + ": the server does not allow it (403)");
  for (const std::string status : {"500", "503", "204"}) {
    EXPECT_EQ(refusal<ErrorKind::Unavailable>(server_->url(status + "/")),
              server_->url(status + "/.changes") + ": the server answered " + status);
  }
}

TEST_F(HttpStore, SaysThatItCannotConnect) {
  EXPECT_THAT(refusal<ErrorKind::Unavailable>("http://127.0.0.1:1/tags?timeout=2m"),
              HasSubstr("http://127.0.0.1:1/tags/.changes: Failed to connect"));
  EXPECT_THAT(refusal<ErrorKind::Unavailable>("http://no-such-host.invalid/tags?timeout=2m"),
              HasSubstr("Could not resolve host"));
}

TEST_F(HttpStore, TakesNoTruncatedBodyForARecord) {
  const std::string head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\n";
  for (const std::string& answer :
       {head + "Content-Length: 100\r\n\r\nshort", head + "Transfer-Encoding: chunked\r\n\r\n64\r\nshort",
        head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", head + "\r\nkeysieve changes 1",
        head + "Transfer-Encoding: identity\r\n\r\nkeysieve changes 1",
        head + "Content-Length: 18\r\nTransfer-Encoding: chunked, identity\r\n\r\nkeysieve changes 1",
        head + "Content-Length: -1\r\n\r\nx", std::string("HTTP/1.1 200"), std::string("not HTTP at all"),
        std::string()}) {
    const CannedServer server("\r\n\r\n", answer);
    EXPECT_THAT(
        message_of<ErrorKind::Unavailable>([&] { seed("http://" + server.address() + "/tags?timeout=2m"); }),
        HasSubstr(server.address()))
        << answer;
  }
}

TEST_F(HttpStore, TakesABodyInChunksHoweverTheirCodingIsWritten) {
  for (const std::string coding : {"chunked", "Chunked", "identity, chunked", "identity,\tCHUNKED",
                                   "identity\r\nTransfer-Encoding: chunked"}) {
    const CannedServer server("\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + coding +
                                              "\r\n\r\n12\r\nkeysieve changes 1\r\n0\r\n\r\n");
    const auto store = open_store("http://" + server.address() + "/tags?timeout=2m");
    EXPECT_THAT(store->get_immutable(std::array{std::string("chunk")}),
                ElementsAre(Optional(std::string("keysieve changes 1"))))
        << coding;
  }
}

TEST_F(HttpStore, TakesNoFileThatIsTruncatedWhileItIsSentForARecord) {
  serve({.directives = "location ~ :seed$ { limit_rate 16k; sendfile off; output_buffers 1 4k; }"});
  const std::string file = folder_ + "/keysieve:seed";
  std::ofstream(file) << std::string(kMaxValueBytes, 'x');
  std::thread truncating([&] {
    EXPECT_TRUE(eventually([&] { return server_->has_open(file); }));
    fs::resize_file(file, 100);
  });
  EXPECT_THAT(message_of<ErrorKind::Unavailable>([&] { seed(url()); }), HasSubstr("keysieve:seed: "));
  truncating.join();
}

// A bypass would end that way.
TEST_F(HttpStore, DoesNotBelieveThatAFileIsGoneWhileNothingHasChanged) {
  serve();
  const StoreOpener open = opener_of(url());
  const auto get = [&] { return open(IfMissing::Refuse, Patience::None)->get("keysieve:seed"); };
  EXPECT_EQ(get(), "x");
  open(IfMissing::Refuse, Patience::None)->distrust_copies();
  fs::rename(folder_ + "/keysieve:seed", folder_ + "/away");
  EXPECT_THAT(message_of<ErrorKind::Unavailable>(get),
              HasSubstr("keysieve:seed is missing, which it was not before"));
  fs::rename(folder_ + "/away", folder_ + "/keysieve:seed");
  EXPECT_EQ(get(), "x");
  remove_record(*open_store("dir:" + folder_), "keysieve:seed");
  EXPECT_EQ(get(), std::nullopt);
}

TEST_F(HttpStore, ReadsNoMoreThanARecordCanHave) {
  serve();
  std::ofstream(folder_ + "/keysieve:seed") << std::string(kMaxValueBytes + 1, 'x');
  EXPECT_EQ(refusal<ErrorKind::Data>(url()),
            server_->url("tags/keysieve:seed") + ": is above the limit of 64.0 KiB");
  std::ofstream(folder_ + "/keysieve:seed") << std::string(kMaxValueBytes, 'x');
  EXPECT_THAT(seed(url()), Optional(SizeIs(kMaxValueBytes)));
}

TEST_F(HttpStore, WaitsNoLongerThanItsTimeout) {
  serve({.directives = "location ~ :seed$ { limit_rate 100; }"});
  std::ofstream(folder_ + "/keysieve:seed") << std::string(kMaxValueBytes, 'x');
  EXPECT_THAT(refusal<ErrorKind::Unavailable>(url(std::string(kShortTimeout))), HasSubstr("timed out"));
  server_->process().stall();
  EXPECT_THAT(refusal<ErrorKind::Unavailable>(url(std::string(kShortTimeout))), HasSubstr("timed out"));
  server_->process().resume();
}

}  // namespace
}  // namespace keysieve::test
