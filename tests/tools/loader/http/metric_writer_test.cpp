#include "tools/loader/http/metric_writer.hpp"

#include <gtest/gtest.h>

namespace keysieve::test {
namespace {

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

}  // namespace
}  // namespace keysieve::test
