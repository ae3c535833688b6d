// Prometheus' text format, version 0.0.4: families of samples, each with its help and type. Label values may
// hold any bytes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/loader/report/set_report.hpp"

namespace keysieve {

class MetricWriter {
 public:
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

  // The samples written next belong to it. A family without a sample is left out. The type follows from the
  // name: "…_total" is a counter, "…_duration_seconds" a histogram, all others are gauges.
  void family(std::string_view name, std::string_view help);

  void sample(const Labels& labels, double value) { write("", labels, value); }
  void histogram(const Labels& labels, const Durations& durations);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  void write(std::string_view suffix, const Labels& labels, double value);

  std::string text_;
  std::string name_;
  std::string head_;  // of the family, until its first sample
};

}  // namespace keysieve
