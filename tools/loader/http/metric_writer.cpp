#include "tools/loader/http/metric_writer.hpp"

#include <fmt/core.h>

#include <iterator>

namespace keysieve {
namespace {

std::string_view type_of(std::string_view name) {
  if (name.ends_with("_total")) return "counter";
  return name.ends_with("_duration_seconds") ? "histogram" : "gauge";
}

std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

std::string label_text(const MetricWriter::Labels& labels) {
  if (labels.empty()) return {};
  std::string text;
  for (const auto& [name, value] : labels) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "{" : ",", name, escaped(value));
  }
  return text + "}";
}

MetricWriter::Labels with(MetricWriter::Labels labels, std::string_view name, std::string_view value) {
  labels.emplace_back(name, value);
  return labels;
}

}  // namespace

void MetricWriter::family(std::string_view name, std::string_view help) {
  name_ = name;
  head_ = fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type_of(name));
}

void MetricWriter::histogram(const Labels& labels, const Durations& durations) {
  for (std::size_t i = 0; i < Durations::kBounds.size(); ++i) {
    const std::string bound = fmt::format("{}", Durations::kBounds[i]);
    write("_bucket", with(labels, "le", bound), static_cast<double>(durations.up_to(i)));
  }
  write("_bucket", with(labels, "le", "+Inf"), static_cast<double>(durations.count()));
  write("_sum", labels, durations.sum());
  write("_count", labels, static_cast<double>(durations.count()));
}

void MetricWriter::write(std::string_view suffix, const Labels& labels, double value) {
  text_ += head_;
  head_.clear();
  fmt::format_to(std::back_inserter(text_), "{}{}{} {}\n", name_, suffix, label_text(labels), value);
}

}  // namespace keysieve
