#include <ranges>

#include "tools/loader/http/loader_view.hpp"
#include "tools/loader/http/metric_writer.hpp"

namespace keysieve {
namespace {

class Metrics {
 public:
  explicit Metrics(const LoaderView& view) : view_(view) {}

  std::string text() {
    write(loader_fields(), "", std::views::single(std::cref(view_)));
    write(store_fields(), "store", view_.loader->stores);
    if (view_.directory) write(directory_fields(), "", std::views::single(*view_.directory));
    write(set_fields(), "set", view_.sets);
    write(loaded_set_fields(), "set", view_.sets);
    durations("keysieve_set_pull_duration_seconds", "Time of pulling a snapshot from the store.",
              &SetReport::pulls);
    durations("keysieve_set_publish_duration_seconds",
              "Time of publishing a snapshot: writing, checking, making current.", &SetReport::publishes);
    write(seen_set_fields(), "set", view_.seen);
    write(seen_report_fields(), "set", std::views::transform(view_.seen, &LoadedSeenSet::loader));
    return writer_.text();
  }

 private:
  // `label`: of the names; empty: they have none.
  template <typename Facts>
  void write(std::span<const Field<Facts>> fields, std::string_view label, const auto& all) {
    for (const Field<Facts>& field : fields) {
      if (field.metric.empty()) continue;
      writer_.family(field.metric, field.help);
      for (const Facts& facts : all) {
        MetricWriter::Labels labels;
        if constexpr (requires { facts.name; }) labels = {{label, facts.name}};
        sample(labels, field.unit, field.label, field.value(facts));
      }
    }
  }

  void sample(const MetricWriter::Labels& labels, Unit unit, std::string_view label, const Json& value) {
    if (value.is_null()) return;
    if (!value.is_object()) return writer_.sample(labels, number(unit, value));
    for (const auto& [name, one] : value.items()) {
      MetricWriter::Labels more = labels;
      more.emplace_back(label, name);
      writer_.sample(more, number(unit, one));
    }
  }

  [[nodiscard]] double number(Unit unit, const Json& value) const {
    if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
    const auto now = static_cast<double>(view_.now);
    const auto as_it_is = value.get<double>();
    if (unit == Unit::Age) return now - as_it_is;
    return unit == Unit::Until ? as_it_is - now : as_it_is;
  }

  void durations(std::string_view name, std::string_view help, Durations SetReport::*durations) {
    writer_.family(name, help);
    for (const LoadedSet& set : view_.sets) writer_.histogram({{"set", set.name}}, (*set.loader).*durations);
  }

  const LoaderView& view_;
  MetricWriter writer_;
};

}  // namespace

std::string metrics_text(const LoaderView& view) {
  return Metrics(view).text();
}

}  // namespace keysieve
