#include "tools/loader/http/loader_view.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "tests/support/forked.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/loader/http/full_view.hpp"
#include "tools/loader/http/metric_writer.hpp"
#include "tools/program/program.hpp"

namespace keysieve::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kMonitoring = KEYSIEVE_SOURCES "/tools/packaging/monitoring/";

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

ProgramResult promtool(std::vector<std::string> arguments, std::string input = {}) {
  return run_program(
      {.program = "/usr/bin/promtool", .arguments = std::move(arguments), .input = std::move(input)});
}

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) {
    found.insert(at->str(at->size() - 1));
  }
  return found;
}

// The names of samples, so with _bucket, _sum and _count.
std::set<std::string> exported() {
  return matches(metrics_text(full_view()), "\n(keysieve_[a-z0-9_]+)[ {]");
}

void expect_exported(const std::string& text) {
  const std::set<std::string> known = exported();
  const std::set<std::string> used = matches(text, "(keysieve_[a-z0-9_]+)");
  EXPECT_GT(used.size(), 5U);
  for (const std::string& name : used) EXPECT_TRUE(known.contains(name)) << name << " is not exported";
}

std::vector<std::string> expressions(const nlohmann::json& dashboard) {
  std::vector<std::string> all;
  for (const auto& panel : dashboard.at("panels")) {
    for (const auto& target : panel.at("targets")) all.push_back(target.at("expr"));
  }
  return all;
}

using Type = MetricWriter::Type;

TEST(MetricWriter, WritesFamiliesThatHaveSamples) {
  MetricWriter writer;
  writer.family(Type::Gauge, "some_keys", "Keys.");
  writer.sample({{"set", "tags"}}, 80000);
  writer.sample({}, 0.25);
  writer.family(Type::Counter, "nobody_total", "Nothing.");
  EXPECT_EQ(
      writer.text(),
      "# HELP some_keys Keys.\n# TYPE some_keys gauge\nsome_keys{set=\"tags\"} 80000\nsome_keys 0.25\n");
}

TEST(MetricWriter, LetsNoLabelEndEarly) {
  MetricWriter writer;
  writer.family(Type::Gauge, "up", "Up.");
  writer.sample({{"store", "a\"} 1\nfake{x=\"\\"}}, 1);
  EXPECT_EQ(writer.text(), "# HELP up Up.\n# TYPE up gauge\nup{store=\"a\\\"} 1\\nfake{x=\\\"\\\\\"} 1\n");
}

TEST(MetricWriter, CountsDurationsUpToEachBound) {
  Durations durations;
  for (const double duration : {0.0005, 0.05, 0.1, 500.0}) durations.add(duration);
  MetricWriter writer;
  writer.family(Type::Histogram, "pull_seconds", "Pulls.");
  writer.histogram({{"set", "tags"}}, durations);
  EXPECT_EQ(writer.text(),
            "# HELP pull_seconds Pulls.\n# TYPE pull_seconds histogram\n"
            "pull_seconds_bucket{set=\"tags\",le=\"0.001\"} 1\n"
            "pull_seconds_bucket{set=\"tags\",le=\"0.01\"} 1\n"
            "pull_seconds_bucket{set=\"tags\",le=\"0.1\"} 3\n"
            "pull_seconds_bucket{set=\"tags\",le=\"1\"} 3\n"
            "pull_seconds_bucket{set=\"tags\",le=\"10\"} 3\n"
            "pull_seconds_bucket{set=\"tags\",le=\"100\"} 3\n"
            "pull_seconds_bucket{set=\"tags\",le=\"+Inf\"} 4\n"
            "pull_seconds_sum{set=\"tags\"} 500.1505\n"
            "pull_seconds_count{set=\"tags\"} 4\n");
}

// full_view() with a history, and with a set that is not published.
LoaderView long_view() {
  LoaderView view = full_view();
  auto report = std::make_shared<SetReport>(*view.sets.front().loader);
  report->diagnosis.reason = "generation 8 refused: \"tags\" shrank\xff";
  report->cache_trouble = "no space";
  report->adds_kept = 20;
  report->refused.front() = 3;
  report->damages = 2;
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
  std::string text = read(KEYSIEVE_SOURCES "/tests/tools/loader/http/golden/" + name);
  const std::string version = "VERSION";
  return text.replace(text.find(version), version.size(), kVersion);
}

// Scripts and dashboards read them, so a change must be meant.
TEST(Metrics, KeepTheirBytes) {
  EXPECT_EQ(metrics_text(long_view()), golden("metrics.txt"));
}

TEST(StatusJson, KeepsItsBytes) {
  EXPECT_EQ(status_json_text(long_view()), golden("status.json"));
}

// Good sets after those of full_view().
LoaderView with_good_sets(std::size_t count) {
  LoaderView view = full_view();
  auto report = std::make_shared<SetReport>(*view.sets.front().loader);
  report->diagnosis.trouble = Trouble::None;
  report->waiting_since.reset();
  report->refused.front() = 5;  // long ago
  LoadedSet good = view.sets.front();
  for (std::size_t i = 0; i < count; ++i) {
    good.name = report->name = "good-" + std::to_string(i);
    good.loader = std::make_shared<SetReport>(*report);
    view.sets.push_back(good);
  }
  return view;
}

// What happens to one of them.
struct Change {
  std::string_view alert;
  void (*apply)(LoadedSet& set, SetReport& report);
};

LoadedSet& change(LoaderView& view, std::size_t position, const Change& change) {
  LoadedSet& set = view.sets.at(position);
  auto report = std::make_shared<SetReport>(*set.loader);
  change.apply(set, *report);
  set.loader = report;
  return set;
}

// One for each alert that names a set.
constexpr Change kChanges[]{
    {"KeysieveSetUnavailable", [](auto& set, auto&) { set.availability = Availability::Missing; }},
    {"KeysieveSetBypassedForLong", [](auto& set, auto&) { set.availability = Availability::Bypassed; }},
    {"KeysieveSetExpiresSoon",
     [](auto& set, auto&) { set.published->valid_until = set.published->as_of + 4700; }},
    {"KeysieveKeysOld",
     [](auto& set, auto&) {
       set.published->valid_until = 0;
       set.published->as_of -= 48 * 3600;
     }},
    {"KeysieveGenerationRefused", [](auto&, auto& report) { report.diagnosis.trouble = Trouble::Refused; }},
    {"KeysieveHostBehindStore",
     [](auto&, auto& report) { report.waiting_since = SteadyTime(std::chrono::seconds(-471)); }},
    {"KeysieveNotConfirmed", [](auto& set, auto&) { set.published->last_confirmed -= 3600; }},
    {"KeysieveCannotPublish", [](auto&, auto& report) { report.diagnosis.trouble = Trouble::CannotPublish; }},
    {"KeysieveAddsLost", [](auto&, auto& report) { report.diagnosis.trouble = Trouble::AddsLost; }},
    {"KeysieveAddsInMemory", [](auto&, auto& report) { report.diagnosis.trouble = Trouble::AddsInMemory; }},
    {"KeysieveNotCached", [](auto&, auto& report) { report.cache_trouble = "no space"; }},
    {"KeysieveKeysChangedALot", [](auto&, auto& report) { report.key_change = -0.6; }},
    {"KeysieveFprAboveLimit", [](auto& set, auto&) { set.published->layer_fill->estimated_fpr = 0.02; }},
    {"KeysieveMemoryChanged", [](auto&, auto& report) { report.damages += 2; }},
};

TEST(Metrics, LeaveOutKnownAbsentKeysOfASetThatWasBuiltWithout) {
  LoaderView view = full_view();
  view.sets.front().published->known_absent.reset();
  EXPECT_THAT(metrics_text(view), Not(HasSubstr("keysieve_set_known_absent_keys")));
}

TEST(MetricsInPrometheus, AreAsPrometheusWantsThem) {
  const ProgramResult result = promtool({"check", "metrics"}, metrics_text(full_view()));
  EXPECT_EQ(result.exit_status, 0) << result.output << result.errors;
  EXPECT_EQ(result.output + result.errors, "");
}

TEST(AlertsInPrometheus, AreRightAndFireWhenTheyShall) {
  const ProgramResult check = promtool({"check", "rules", kMonitoring + "alerts.yml"});
  EXPECT_EQ(check.exit_status, 0) << check.output << check.errors;
  const ProgramResult test = promtool({"test", "rules", kMonitoring + "alerts_test.yml"});
  EXPECT_EQ(test.exit_status, 0) << test.output << test.errors;
}

// What Prometheus has after scrapes, one a minute, as promtool reads it.
class Scrapes {
 public:
  void add(const std::string& metrics, int minutes) {
    std::map<std::string, std::string> now;
    for (std::istringstream lines(metrics); !lines.eof();) {
      std::string line;
      std::getline(lines, line);
      const auto space = line.rfind(' ');
      if (line.starts_with("keysieve_")) now[line.substr(0, space)] = line.substr(space + 1);
    }
    for (const auto& [series, value] : now) {
      std::string& values = series_.try_emplace(series, missing(minutes_)).first->second;
      values += value + "+0x" + std::to_string(minutes - 1) + " ";
    }
    // Prometheus marks a series that a scrape lacks.
    for (auto& [series, values] : series_) {
      if (!now.contains(series)) values += "stale " + missing(minutes - 1);
    }
    minutes_ += minutes;
  }

  // By now. `alerts`: the names of those that fire, with the set.
  void expect(const std::vector<std::pair<std::string, std::string>>& alerts) {
    nlohmann::json firing = nlohmann::json::array();
    for (const auto& [alert, set] : alerts) {
      const std::string labels = "{alertname=\"" + alert + "\",set=\"" + set + "\"}";
      firing.push_back({{"labels", labels}, {"value", 1}});
    }
    checks_.push_back({{"expr", "count by (alertname, set) (ALERTS{alertstate=\"firing\",set!=\"\"})"},
                       {"eval_time", std::to_string(minutes_ - 1) + "m"},
                       {"exp_samples", firing}});
  }

  void check() const {
    nlohmann::json series = nlohmann::json::array();
    for (const auto& [name, values] : series_) series.push_back({{"series", name}, {"values", values}});
    const nlohmann::json test{{"interval", "1m"}, {"input_series", series}, {"promql_expr_test", checks_}};
    const TemporaryDirectory folder;
    const std::string path = folder / "test.yml";
    std::ofstream(path) << nlohmann::json{
        {"rule_files", {kMonitoring + "alerts.yml"}},
        {"evaluation_interval", "1m"},
        {"tests", {test}}}.dump();
    const ProgramResult result = promtool({"test", "rules", path});
    EXPECT_EQ(result.exit_status, 0) << result.output << result.errors;
  }

 private:
  static std::string missing(int minutes) { return minutes == 0 ? "" : "_x" + std::to_string(minutes) + " "; }

  std::map<std::string, std::string> series_;
  nlohmann::json checks_ = nlohmann::json::array();
  int minutes_ = 0;
};

// As it is in full_view().
const std::pair<std::string, std::string> kFirstSetIsRefused{"KeysieveGenerationRefused", "tags"};

TEST(AlertsInPrometheus, FireForEachBadSetAndEndWithIt) {
  const std::string rules = read(kMonitoring + "alerts.yml");
  for (const std::string& alert : matches(rules, "alert: (\\w+)\n +expr: [^:]*keysieve_set_")) {
    EXPECT_THAT(kChanges, ::testing::Contains(::testing::Field(&Change::alert, alert)));
  }
  LoaderView view = with_good_sets(std::size(kChanges) + 1);
  const std::string good = metrics_text(view);
  std::vector<std::pair<std::string, std::string>> firing{kFirstSetIsRefused};
  std::size_t position = 1;
  for (const Change& one : kChanges) {
    firing.emplace_back(one.alert, change(view, position++, one).name);
  }
  Scrapes scrapes;
  scrapes.add(good, 30);
  scrapes.expect({kFirstSetIsRefused});
  scrapes.add(metrics_text(view), 10);
  change(view, position - 1, *std::rbegin(kChanges));  // memory changed again, within a day
  scrapes.add(metrics_text(view), 370);
  scrapes.expect(firing);
  scrapes.add(good, 2);
  scrapes.expect({kFirstSetIsRefused, firing.back()});  // that lasts a day
  scrapes.check();
}

TEST(Alerts, AreEachTestedAndDescribed) {
  const std::string rules = read(kMonitoring + "alerts.yml");
  const std::string tests = read(kMonitoring + "alerts_test.yml");
  const std::string page = read(KEYSIEVE_SOURCES "/docs/monitoring.md");
  const std::set<std::string> alerts = matches(rules, "alert: (\\w+)");
  EXPECT_GT(alerts.size(), 5U);
  for (const std::string& alert : alerts) {
    EXPECT_THAT(tests, HasSubstr(alert));
    EXPECT_THAT(page, HasSubstr(alert));
  }
}

TEST(Alerts, AskForWhatIsExported) {
  expect_exported(read(kMonitoring + "alerts.yml"));
}

// Debian's promtool knows nothing of Kubernetes: what it would find is written in its place.
TEST(ScrapeConfigsInPrometheus, GiveTheJobTheNameThatTheAlertsAskFor) {
  constexpr std::string_view kDiscovery = "kubernetes_sd_configs: [{role: pod}]";
  constexpr std::string_view kDiscovered =
      "static_configs: [{targets: [\"10.1.2.3\"], labels: {__meta_kubernetes_pod_ip: \"10.1.2.3\","
      " __meta_kubernetes_pod_annotation_prometheus_io_scrape: \"true\","
      " __meta_kubernetes_pod_annotation_prometheus_io_port: \"9427\"}}]";
  const TemporaryDirectory folder;
  const std::string path = folder / "prometheus.yml";
  std::filesystem::copy(kMonitoring + "alerts.yml", folder / "alerts.yml");
  const std::string page = read(KEYSIEVE_SOURCES "/docs/monitoring.md");
  const auto configs = matches(page, "```yaml\n(# prometheus.yml\n[^`]*)```");
  ASSERT_EQ(configs.size(), 2U);
  for (std::string config : configs) {
    const auto discovery = config.find(kDiscovery);
    const bool is_discovered = discovery != std::string::npos;
    if (is_discovered) config.replace(discovery, kDiscovery.size(), kDiscovered);
    std::ofstream(path) << config;
    const ProgramResult check = promtool({"check", "config", path});
    EXPECT_EQ(check.exit_status, 0) << check.output << check.errors;
    // It prints what it has found when the time is over.
    nlohmann::json found;
    EXPECT_TRUE(eventually([&] {
      const std::string job = is_discovered ? "kubernetes-pods" : "keysieve";
      const auto printed = promtool({"check", "service-discovery", "--timeout=200ms", path, job}).output;
      found = nlohmann::json::parse(printed, nullptr, false);
      return found.is_array() && !found.empty();
    }));
    const auto labels = found.at(0).at("labels");
    EXPECT_EQ(labels.at("job"), "keysieve");
    EXPECT_EQ(labels.at("__address__"), is_discovered ? "10.1.2.3:9427" : "web1.example.com:9427");
  }
}

TEST(Dashboard, AsksForWhatIsExported) {
  std::string all;
  for (const std::string& expression :
       expressions(nlohmann::json::parse(read(kMonitoring + "dashboard.json")))) {
    all += expression + "\n";
  }
  expect_exported(all);
}

// As rules, which promtool parses.
TEST(DashboardInPrometheus, HasExpressionsThatPrometheusUnderstands) {
  nlohmann::json rules = nlohmann::json::array();
  for (const std::string& expression :
       expressions(nlohmann::json::parse(read(kMonitoring + "dashboard.json")))) {
    rules.push_back({{"record", "panel:" + std::to_string(rules.size())}, {"expr", expression}});
  }
  const TemporaryDirectory folder;
  const std::string path = folder / "rules.yml";
  std::ofstream(path) << nlohmann::json{{"groups", {{{"name", "dashboard"}, {"rules", rules}}}}}.dump();
  const ProgramResult check = promtool({"check", "rules", path});
  EXPECT_EQ(check.exit_status, 0) << check.output << check.errors;
  EXPECT_THAT(check.output, HasSubstr(std::to_string(rules.size()) + " rules found"));
}

}  // namespace
}  // namespace keysieve::test
