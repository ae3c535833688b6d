// /metrics and /status.json byte for byte: scripts and dashboards read them, so a change must be meant.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/tools/loader/http/full_view.hpp"
#include "tools/loader/http/metrics_text.hpp"
#include "tools/loader/http/view_json.hpp"
#include "tools/program/program.hpp"

namespace keysieve::test {
namespace {

// full_view() with a history, and with a set that is not published.
LoaderView long_view() {
  LoaderView view = full_view();
  auto report = std::make_shared<SetReport>(*view.sets.front().loader);
  report->diagnosis.reason = "generation 8 refused: \"tags\" shrank\xff";
  report->cache_trouble = "no space";
  report->adds_kept = 20;
  report->refused.front() = 3;
  report->history = {{.at = 1'700'003'500,
                      .event = Event::Refused,
                      .generation = 8,
                      .key_count = 10,
                      .bytes = 4096,
                      .reason = "it shrank"},
                     {.at = 1'700'000'600,
                      .event = Event::Published,
                      .generation = 7,
                      .publication = 9,
                      .key_count = 80000,
                      .known_absent = 2000000,
                      .bytes = 122880,
                      .pull_seconds = 0.25,
                      .publish_seconds = 0.125}};
  view.sets.front().loader = report;
  view.sets.front().bypasses = BypassesStatus{{.is_on = true, .until = 1'700'009'999}, {}};
  view.sets.front().troubles = {"refused", "not_cached"};

  LoadedSet never;
  auto pending = std::make_shared<SetReport>();
  pending->name = never.name = "never";
  pending->store = "main";
  never.trouble = ErrorKind::MissingInput;
  never.reason = "no such set";
  never.troubles = {"missing_input"};
  never.loader = pending;
  view.sets.push_back(never);

  LoadedSeenSet lost;
  lost.name = lost.loader.name = "lost";
  lost.reason = "there is no page";
  lost.loader.is_full = true;
  lost.loader.saves_lost = 2;
  view.seen.push_back(lost);
  return view;
}

std::string golden(const std::string& name) {
  std::ifstream file(KEYSIEVE_SOURCES "/tests/tools/loader/http/golden/" + name);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string version = "VERSION";
  return text.replace(text.find(version), version.size(), kVersion);
}

TEST(Metrics, KeepTheirBytes) {
  EXPECT_EQ(metrics_text(long_view()), golden("metrics.txt"));
}

TEST(StatusJson, KeepsItsBytes) {
  EXPECT_EQ(status_json_text(long_view()), golden("status.json"));
}

}  // namespace
}  // namespace keysieve::test
