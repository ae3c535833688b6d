#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/support/run_program.hpp"
#include "tests/support/server_process.hpp"
#include "tests/tools/loader/http/full_view.hpp"
#include "tests/tools/loader/http/status_fixture.hpp"
#include "tools/loader/http/http_server.hpp"
#include "tools/loader/http/loader_view.hpp"
#include "tools/loader/http/page/page_files.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kHostile = "<script>document.title='taken'</script>";

// Its script asks for status.json, and once more after 10 seconds. Chromium lets this time pass at once.
constexpr const char* kVirtualTime = "--virtual-time-budget=15000";

// Chromium's own dump of what it has made of the page, or a picture of it.
std::string in_chromium(const std::string& url, const std::string& mode) {
  const TemporaryDirectory profile;
  const ProgramResult result = run_program(
      {.program = "/bin/sh",  // it is a script
       .arguments = {"/usr/bin/chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
                     "--no-first-run", "--disable-background-networking", "--disable-component-update",
                     "--disable-sync", "--hide-scrollbars", "--window-size=1200,1600", kVirtualTime,
                     "--user-data-dir=" + profile.path(), mode, url}});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  return result.output;
}

using StatusPage = KeysievedStatus;

// Serves the page's files, and what it asks for.
class PageOfView : public ::testing::Test {
 protected:
  // What Chromium has made of the page of this view.
  [[nodiscard]] static std::string dom_of(const LoaderView& view, const std::string& mode = "--dump-dom") {
    return dom_of(
        [&] { return HttpAnswer{.content_type = "application/json", .body = status_json_text(view)}; }, mode);
  }
  [[nodiscard]] static std::string dom_of(const std::function<HttpAnswer()>& status_json,
                                          const std::string& mode = "--dump-dom") {
    const std::string address = "127.0.0.1:" + std::to_string(free_port());
    const HttpServer server(address, std::nullopt, [&](std::string_view path) {
      if (path == "/status.json") return status_json();
      const auto file = std::ranges::find(page_files(), path, &PageFile::path);
      if (file == page_files().end()) return HttpAnswer{.status = 404};
      return HttpAnswer{.content_type = file->content_type,
                        .body = std::string(file->text),
                        .headers = {{"Content-Security-Policy", kPagePolicy}}};
    });
    return in_chromium("http://" + address + "/", mode);
  }
};
using PageOfViewInChromium = PageOfView;

// Whatever is green in the last report of a loader that has stopped.
TEST_F(PageOfViewInChromium, SaysSinceWhenALoaderStandsStillAndWhatToDo) {
  LoaderView view = full_view();
  view.sets.clear();
  view.seen.clear();
  EXPECT_THAT(dom_of(view), AllOf(HasSubstr("<header class=\"top good\">"), HasSubstr(", ready;"),
                                  Not(HasSubstr("systemctl"))));
  view.heartbeat = {.age = std::chrono::milliseconds(136'400), .is_alive = false};
  EXPECT_THAT(dom_of(view),
              AllOf(HasSubstr("<title>The loader has given no sign of life for 2m 16s · keysieve on "),
                    HasSubstr("<header class=\"top bad\">"),
                    HasSubstr("<h1>The loader has given no sign of life for 2m 16s</h1>"),
                    HasSubstr(">2023-11-14T23:11:04Z</time>"),
                    HasSubstr("<code>systemctl restart keysieved</code>"), HasSubstr(", has stopped;")));
}

TEST_F(PageOfViewInChromium, ShowsEachSeenSetWithItsWindowAndWhatIsWrong) {
  LoaderView view = full_view();
  view.sets.clear();
  EXPECT_THAT(dom_of(view),
              AllOf(HasSubstr("<h1>The set is well</h1>"), HasSubstr("clicks"), HasSubstr("≈ 900 of 3,000"),
                    HasSubstr("0.0100 %"), HasSubstr("12.0 KiB"), HasSubstr(">5s ago</time>")));
  view.seen.front().loader.is_full = true;
  EXPECT_THAT(dom_of(view),
              AllOf(HasSubstr("<header class=\"top notice\">"), HasSubstr("1 of 1 sets needs a look"),
                    HasSubstr("its window is full: the false-positive rate rises")));
  view.seen.front().availability = Availability::Missing;
  view.seen.front().live.reset();
  view.seen.front().loader.reason = kHostile;
  EXPECT_THAT(dom_of(view), AllOf(HasSubstr("<header class=\"top bad\">"), HasSubstr("&lt;script&gt;"),
                                  Not(HasSubstr(kHostile))));
}

TEST_F(PageOfViewInChromium, ShowsTheFiguresOfASet) {
  LoaderView view = full_view();
  EXPECT_THAT(dom_of(view),
              AllOf(HasSubstr("<dd>80,000<small>−10.0 % to the one before</small></dd>"),
                    HasSubstr("<dt>Known absent</dt><dd>2,000,000 keys</dd>"), Not(HasSubstr("Key profile")),
                    HasSubstr("<dt>Generation</dt><dd>7<small>the store has 8</small></dd>"),
                    HasSubstr("<dt>Was equal to the store</dt>"), HasSubstr(">in 23h</time>"),
                    HasSubstr("<dd>1.00 %<small>at most 2.00 %</small></dd>"), HasSubstr(" 50.0 % full")));
  LoadedSet& set = view.sets.front();
  SetReport report = *set.loader;
  report.store_generation = 7;
  report.cache_trouble = "no space";
  set.loader = std::make_shared<const SetReport>(report);
  set.published->known_absent.reset();
  set.published->key_profile = "nfc<lower>";
  set.shards = std::make_shared<const ShardDistribution>(ShardDistribution{.is_of_fill_ratios = false,
                                                                           .lowest = 90,
                                                                           .highest = 110,
                                                                           .mean = 101,
                                                                           .shard_count = 1221,
                                                                           .bins = {1, 1200, 20}});
  EXPECT_THAT(
      dom_of(view),
      AllOf(HasSubstr("<dt>Key profile</dt><dd>nfc&lt;lower&gt;</dd>"), Not(HasSubstr("Known absent")),
            HasSubstr("<dt>Found equal to the store</dt>"), HasSubstr("publication 9"),
            HasSubstr("1,221 shards, keys per shard 90 to 110"), HasSubstr(">mean 101</text>"),
            HasSubstr("<b>Cache:</b> no space: after a reboot"), HasSubstr(">not in the cache</span>")));
}

TEST_F(PageOfViewInChromium, CountsTheSetsAndShowsTheWorstFirst) {
  LoaderView view = full_view();
  auto well = std::make_shared<SetReport>(*view.sets.front().loader);
  well->diagnosis = {};
  view.sets.front().loader = well;
  view.sets.resize(3, view.sets.front());
  view.seen.clear();
  EXPECT_THAT(dom_of(view),
              AllOf(HasSubstr("<header class=\"top good\">"), HasSubstr("All 3 sets are well")));
  view.sets[1].name = "ill";
  view.sets[1].availability = Availability::Missing;
  const std::string dom = dom_of(view);
  EXPECT_THAT(dom, AllOf(HasSubstr("<header class=\"top bad\">"), HasSubstr("1 of 3 sets needs a look")));
  EXPECT_LT(dom.find("href=\"#ill\""), dom.find("href=\"#tags\""));
}

// Names from a store or a builder are text, never markup.
TEST_F(PageOfViewInChromium, ShowsEachSetAndWhatIsWrong) {
  LoaderView view = long_view();
  auto report = std::make_shared<SetReport>(*view.sets.front().loader);
  report->store = kHostile;
  report->diagnosis.reason = kHostile;
  view.sets.front().loader = report;
  EXPECT_THAT(
      dom_of(view),
      AllOf(HasSubstr("sets need a look</h1>"), HasSubstr("id=\"tags\">"),
            HasSubstr("<tr class=\"refused\">"), HasSubstr("<article class=\"card bad\" id=\"never\">"),
            HasSubstr("&lt;script&gt;document.title='taken'&lt;/script&gt;"), Not(HasSubstr("<script>"))));
}

TEST_F(PageOfViewInChromium, IsDrawn) {
  const TemporaryDirectory folder;
  const std::string picture = folder / "page.png";
  static_cast<void>(dom_of(long_view(), "--screenshot=" + picture));
  std::ifstream file(picture, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GT(bytes.size(), 24U);
  EXPECT_THAT(bytes.substr(1, 3), "PNG");
  EXPECT_EQ(bytes.substr(16, 8), std::string("\0\0\x04\xb0\0\0\x06\x40", 8)) << "1200 by 1600";
  EXPECT_GT(bytes.size(), 50'000U) << "a page without style is smaller";
}

TEST_F(PageOfViewInChromium, SaysThatKeysievedDoesNotAnswer) {
  EXPECT_THAT(
      dom_of([] { return HttpAnswer{.status = 500, .body = "it went wrong\n"}; }),
      AllOf(HasSubstr("<title>keysieved does not answer · "), HasSubstr("<h1>keysieved does not answer</h1>"),
            HasSubstr("status.json: 500 it went wrong."), HasSubstr("keysieve status")));
}

// It asks again every 10 seconds.
TEST_F(PageOfViewInChromium, KeepsWhatItKnewWhenKeysievedDoesNotAnswerAnyMore) {
  const LoaderView view = full_view();
  int asked = 0;
  EXPECT_THAT(dom_of([&] {
                return ++asked == 1
                           ? HttpAnswer{.content_type = "application/json", .body = status_json_text(view)}
                           : HttpAnswer{.status = 503};
              }),
              AllOf(HasSubstr("<body class=\"stale\">"), HasSubstr("<h1>keysieved does not answer</h1>"),
                    HasSubstr("Below is what it said at "),
                    HasSubstr("<article class=\"card notice\" id=\"tags\">")));
  EXPECT_GT(asked, 1);
}

TEST(PageFiles, HoldNoScriptAndNoStyleInline) {
  const std::string_view html = page_files().front().text;
  EXPECT_EQ(page_files().front().path, "/");
  for (const char* inlined : {"<style", "<script>", " style=", " onload=", "javascript:"}) {
    EXPECT_THAT(html, Not(HasSubstr(inlined)));
  }
  EXPECT_THAT(html, AllOf(HasSubstr("<noscript>"), HasSubstr("status.json"),
                          HasSubstr("<code>keysieve status</code>")));
  for (const PageFile& file : page_files()) {
    EXPECT_THAT(file.text,
                AllOf(Not(HasSubstr("innerHTML")), Not(HasSubstr("//cdn")), Not(HasSubstr("eval("))));
  }
}

TEST_F(StatusPage, AllowsItsOwnFilesAndNothingElse) {
  site_.configure(status_config() + tags_set);
  start();
  ASSERT_TRUE(says("status page and metrics at unix:")) << log();
  for (const PageFile& file : page_files()) {
    const HttpReply reply = get(std::string(file.path));
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, file.text);
    EXPECT_THAT(reply.head,
                AllOf(HasSubstr(std::string("Content-Type: ") + file.content_type),
                      HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self'; ")));
  }
  for (const char* path : {"/healthz", "/livez", "/startz"}) EXPECT_NE(get(path).status, 404) << path;
  for (const char* path : {"/metric", "/../etc/passwd", "/index.html", "//"})
    EXPECT_EQ(get(path).status, 404) << path;
}

}  // namespace
}  // namespace keysieve::test
