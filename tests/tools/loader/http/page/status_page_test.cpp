#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "core/shm/bypass.hpp"
#include "tests/support/free_port.hpp"
#include "tests/support/run_program.hpp"
#include "tests/tools/loader/http/full_view.hpp"
#include "tests/tools/loader/http/status_fixture.hpp"
#include "tools/loader/http/page/set_card.hpp"
#include "tools/loader/http/page/status_page.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kHostile = "<script>document.title='taken'</script>";

std::string set_named(const std::string& name, const std::string& store = "main") {
  return "[[set]]\nname = \"" + name + "\"\nstore = \"" + store + "\"\n";
}

class StatusPage : public KeysievedStatus {
 protected:
  // Sets in every state that a page shows, and names and messages that would like to be markup.
  void start_all_states(const std::string& status) {
    for (const char* name : {"tags", "shrunk", "frozen"}) site_.push(name, first_keys(20000));
    site_.configure(status + set_named("tags") + set_named("shrunk") + set_named("frozen") +
                    set_named("never") + set_named("far", "a\\\"" + kHostile) + "[store.\"a\\\"" + kHostile +
                    "\"]\nurl = \"dir:" + site_.root() / kHostile + "\"\n");
    start();
    ASSERT_TRUE(follows("frozen", 1)) << log();
    site_.push("shrunk", first_keys(100));
    set_bypass(site_.directory(), "frozen", 4'000'000'000);
    ASSERT_TRUE(says("shrunk: generation 2 refused")) << log();
    site_.push("tags", first_keys(21000));
    ASSERT_TRUE(follows("tags", 2)) << log();
  }

  // Chromium's own dump of what it has made of the page, or a picture of it.
  [[nodiscard]] std::string in_chromium(const std::string& url, const std::string& mode) const {
    const TemporaryDirectory profile;
    const ProgramResult result = run_program(
        {.program = "/bin/sh",  // it is a script
         .arguments = {"/usr/bin/chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
                       "--no-first-run", "--disable-background-networking", "--disable-component-update",
                       "--disable-sync", "--hide-scrollbars", "--window-size=1200,1600",
                       "--user-data-dir=" + profile.path(), mode, url}});
    EXPECT_EQ(result.exit_status, 0) << result.errors;
    return result.output;
  }
};
using StatusPageInChromium = StatusPage;

// Whatever is green on the board of a loader that has stopped.
TEST(StatusPageOfALoaderThatStandsStill, SaysSinceWhenAndWhatToDo) {
  LoaderView view = full_view();
  view.sets.clear();
  view.seen.clear();
  EXPECT_THAT(status_page(view, "nonce"), AllOf(HasSubstr("<header class=\"top good\">"),
                                                HasSubstr(", ready;"), Not(HasSubstr("systemctl"))));
  view.heartbeat = {.age = std::chrono::milliseconds(136'400), .is_alive = false};
  EXPECT_THAT(status_page(view, "nonce"),
              AllOf(HasSubstr("<title>The loader has given no sign of life for 2m 16s · keysieve on "),
                    HasSubstr("<header class=\"top bad\">"),
                    HasSubstr("<h1>The loader has given no sign of life for 2m 16s</h1>"),
                    HasSubstr(">2023-11-14T23:11:04Z</time>"),
                    HasSubstr("<code>systemctl restart keysieved</code>"), HasSubstr(", has stopped;")));
}

TEST(StatusPageOfSeenSets, ShowsEachWithItsWindowAndWhatIsWrong) {
  LoaderView view = full_view();
  view.sets.clear();
  EXPECT_THAT(status_page(view, "nonce"),
              AllOf(HasSubstr("<h1>The set is well</h1>"), HasSubstr("clicks"), HasSubstr("≈ 900 of 3,000")));
  SeenReport report = *view.seen.front().loader;
  report.is_full = true;
  view.seen.front().loader = std::make_shared<const SeenReport>(report);
  EXPECT_THAT(status_page(view, "nonce"),
              AllOf(HasSubstr("<header class=\"top notice\">"), HasSubstr("1 of 1 sets needs a look"),
                    HasSubstr("its window is full: the false-positive rate rises")));
  view.seen.front().availability = Availability::Missing;
  report.trouble = kHostile;
  view.seen.front().loader = std::make_shared<const SeenReport>(report);
  EXPECT_THAT(status_page(view, "nonce"), AllOf(HasSubstr("<header class=\"top bad\">"),
                                                HasSubstr("&lt;script&gt;"), Not(HasSubstr(kHostile))));
}

TEST_F(StatusPage, AllowsItsOwnStyleAndNothingElse) {
  site_.configure(status_config() + tags_set);
  start();
  ASSERT_TRUE(says("status page and metrics at unix:")) << log();
  const HttpReply first = get("/");
  EXPECT_EQ(first.status, 200);
  const auto nonce_at = first.head.find("style-src 'nonce-");
  ASSERT_NE(nonce_at, std::string::npos) << first.head;
  const std::string nonce = first.head.substr(nonce_at + 17, 32);
  EXPECT_THAT(first.body, HasSubstr("<style nonce=\"" + nonce + "\">"));
  EXPECT_THAT(first.head, HasSubstr("Content-Security-Policy: default-src 'none'; "));
  EXPECT_THAT(get("/").head, Not(HasSubstr(nonce))) << "each answer has its own";
}

TEST_F(StatusPageInChromium, ShowsEverySetAndWhatIsWrong) {
  const std::string address = "127.0.0.1:" + std::to_string(free_port());
  ASSERT_NO_FATAL_FAILURE(start_all_states("[status]\nlisten = \"" + address + "\"\n"));
  const std::string url = "http://" + address + "/";
  const std::string dom = in_chromium(url, "--dump-dom");
  EXPECT_THAT(dom, HasSubstr("<title>4 of 5 sets need a look · keysieve on "));
  EXPECT_THAT(dom, HasSubstr("<h1>4 of 5 sets need a look</h1>"));
  EXPECT_THAT(dom, HasSubstr("<article class=\"card good\" id=\"tags\">"));
  EXPECT_THAT(dom, HasSubstr("Answers from generation 2."));
  EXPECT_THAT(dom, HasSubstr("<dd>21,000<small>+5.0 % to the one before</small></dd>"));
  EXPECT_THAT(dom, HasSubstr("<article class=\"card notice\" id=\"shrunk\">"));
  EXPECT_THAT(dom, HasSubstr("generation 2 refused: set \"shrunk\" shrank from 20,000 to 100 keys"));
  EXPECT_THAT(dom, HasSubstr("<tr class=\"refused\">"));
  EXPECT_THAT(dom, HasSubstr("Lookups answer maybe until 2096-10-02T07:06:40Z."));
  EXPECT_THAT(dom, HasSubstr("<article class=\"card bad\" id=\"never\">"));
  EXPECT_THAT(dom, HasSubstr(" holds no snapshot of it"));
  EXPECT_THAT(dom, HasSubstr("shards, fill ratio "));
  EXPECT_THAT(dom, HasSubstr("<rect class=\"bar\""));
  EXPECT_THAT(dom, HasSubstr("&lt;script&gt;document.title='taken'&lt;/script&gt;")) << "as text";
  EXPECT_THAT(dom, Not(HasSubstr("<script"))) << "and nowhere as markup";
}

TEST(SetCard, NamesTheKeyProfileWhereThereIsOne) {
  LoaderView view = full_view();
  EXPECT_THAT(set_card(view.sets.front(), view), Not(HasSubstr("Key profile")));
  view.sets.front().published->key_profile = "nfc<lower>";
  EXPECT_THAT(set_card(view.sets.front(), view), HasSubstr("<dt>Key profile</dt><dd>nfc&lt;lower&gt;</dd>"));
}

TEST(SetCard, CountsKnownAbsentKeysWhereThereAreSome) {
  LoaderView view = full_view();
  EXPECT_THAT(set_card(view.sets.front(), view), HasSubstr("<dt>Known absent</dt><dd>2,000,000 keys</dd>"));
  view.sets.front().published->known_absent.reset();
  EXPECT_THAT(set_card(view.sets.front(), view), Not(HasSubstr("Known absent")));
}

TEST_F(StatusPageInChromium, IsDrawn) {
  const std::string address = "127.0.0.1:" + std::to_string(free_port());
  ASSERT_NO_FATAL_FAILURE(start_all_states("[status]\nlisten = \"" + address + "\"\n"));
  const std::string picture = site_.root() / "page.png";
  static_cast<void>(in_chromium("http://" + address + "/", "--screenshot=" + picture));
  std::ifstream file(picture, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GT(bytes.size(), 24U);
  EXPECT_THAT(bytes.substr(1, 3), "PNG");
  EXPECT_EQ(bytes.substr(16, 8), std::string("\0\0\x04\xb0\0\0\x06\x40", 8)) << "1200 by 1600";
  EXPECT_GT(bytes.size(), 50'000U) << "a page without style is smaller";
}

}  // namespace
}  // namespace keysieve::test
