#include "tools/loader/http/loader_view.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/support/forked.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/loader/http/full_view.hpp"
#include "tools/program/program.hpp"

namespace keysieve::test {
namespace {

using ::testing::HasSubstr;

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

// The names of samples, so with _bucket, _sum and _count; and the states and troubles, of which an expression
// may name several.
void expect_exported(const std::string& text) {
  const std::string metrics = metrics_text(full_view());
  const std::set<std::string> known = matches(metrics, "\n(keysieve_[a-z0-9_]+)[ {]");
  const std::set<std::string> used = matches(text, "(keysieve_[a-z0-9_]+)");
  EXPECT_GT(used.size(), 5U);
  for (const std::string& name : used) EXPECT_TRUE(known.contains(name)) << name << " is not exported";
  for (const std::string label : {"state", "trouble"}) {
    for (const std::string& values : matches(text, label + "=~?\"([a-z_|]+)\"")) {
      for (const std::string& value : matches(values, "([a-z_]+)"))
        EXPECT_THAT(metrics, HasSubstr(label + "=\"" + value + "\""));
    }
  }
}

std::vector<std::string> expressions(const nlohmann::json& dashboard) {
  std::vector<std::string> all;
  for (const auto& panel : dashboard.at("panels")) {
    for (const auto& target : panel.at("targets")) all.push_back(target.at("expr"));
  }
  return all;
}

TEST(Metrics, LetNoLabelEndEarly) {
  LoaderView view = full_view();
  view.seen.front().name = "a\"} 1\nfake{x=\"\\";
  EXPECT_THAT(metrics_text(view),
              HasSubstr("\nkeysieve_seen_windows{set=\"a\\\"} 1\\nfake{x=\\\"\\\\\"} 2\n"));
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

TEST(AlertsAndDashboard, AskForWhatIsExported) {
  expect_exported(read(kMonitoring + "alerts.yml"));
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
