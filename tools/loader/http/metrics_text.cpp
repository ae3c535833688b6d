// Prometheus' text format, version 0.0.4: families of samples, each with its help and type.
#include <fmt/core.h>

#include <iterator>

#include "tools/loader/http/loader_view.hpp"

namespace keysieve {
namespace {

std::string label(std::string_view name, std::string_view value) {
  std::string text = fmt::format("{}=\"", name);
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c == '\n' ? "\\n" : std::string(1, c);
  }
  return text + "\"";
}

class Metrics {
 public:
  explicit Metrics(const LoaderView& view) : view_(view) {}

  std::string text() {
    write(kLoaderFields, "", std::span(&view_, 1));
    write(kStoreFields, "store", view_.loader->stores);
    if (view_.directory) write(kDirectoryFields, "", std::span(&*view_.directory, 1));
    write(kSetFields, "set", view_.sets);
    write(kLoadedSetFields, "set", view_.sets);
    durations("keysieve_set_pull_duration_seconds", "Time of pulling a snapshot from the store.",
              &SetReport::pulls);
    durations("keysieve_set_publish_duration_seconds",
              "Time of publishing a snapshot: writing, checking, making current.", &SetReport::publishes);
    write(kSeenSetFields, "set", view_.seen);
    std::vector<SeenReport> reports;
    for (const LoadedSeenSet& set : view_.seen) reports.push_back(set.loader);
    write(kSeenReportFields, "set", reports);
    return text_;
  }

 private:
  // A sample for each of `all`, with its name as the label `what`, if it has one.
  template <typename Facts>
  void write(std::span<const Field<Facts>> fields, std::string_view what, const auto& all) {
    for (const Field<Facts>& field : fields) {
      if (field.metric.empty()) continue;
      family(field.metric, field.help, field.metric.ends_with("_total") ? "counter" : "gauge");
      for (const Facts& facts : all) {
        std::string labels;
        if constexpr (requires { facts.name; }) labels = label(what, facts.name);
        const Json value = field.value(facts);
        if (!value.is_object()) {
          if (!value.is_null()) sample("", labels, number(field.unit, value));
          continue;
        }
        if (!labels.empty()) labels += ",";
        for (const auto& [name, one] : value.items())
          sample("", labels + label(field.label, name), number(field.unit, one));
      }
    }
  }

  [[nodiscard]] double number(Unit unit, const Json& value) const {
    if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
    const auto now = static_cast<double>(view_.now);
    const auto as_it_is = value.get<double>();
    if (unit == Unit::Age) return now - as_it_is;
    return unit == Unit::Until ? as_it_is - now : as_it_is;
  }

  void durations(std::string_view name, std::string_view help, Durations SetReport::*member) {
    family(name, help, "histogram");
    for (const LoadedSet& set : view_.sets) {
      const Durations& durations = (*set.loader).*member;
      const std::string labels = label("set", set.name);
      const auto up_to = [&](std::string_view bound, std::uint64_t count) {
        sample("_bucket", labels + "," + label("le", bound), static_cast<double>(count));
      };
      for (std::size_t i = 0; i < Durations::kBounds.size(); ++i)
        up_to(fmt::format("{}", Durations::kBounds[i]), durations.up_to(i));
      up_to("+Inf", durations.count());
      sample("_sum", labels, durations.sum());
      sample("_count", labels, static_cast<double>(durations.count()));
    }
  }

  // The samples written next belong to it. A family without a sample is left out.
  void family(std::string_view name, std::string_view help, std::string_view type) {
    name_ = name;
    head_ = fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  void sample(std::string_view suffix, const std::string& labels, double value) {
    text_ += std::exchange(head_, "");
    const std::string braced = labels.empty() ? "" : "{" + labels + "}";
    fmt::format_to(std::back_inserter(text_), "{}{}{} {}\n", name_, suffix, braced, value);
  }

  const LoaderView& view_;
  std::string text_;
  std::string_view name_;
  std::string head_;
};

}  // namespace

std::string metrics_text(const LoaderView& view) {
  return Metrics(view).text();
}

}  // namespace keysieve
