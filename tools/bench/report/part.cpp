#include "tools/bench/report/part.hpp"

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "tools/plot/measured_plot.hpp"

namespace keysieve {
namespace {

using nlohmann::json;

MeasuredAxis axis_of(const json& value) {
  const std::string scale = value.value("scale", "linear");
  if (scale != "linear" && scale != "log") throw Error(ErrorKind::Data, "no such scale: " + scale);
  return {value.at("title"), scale == "log" ? Scale::Log : Scale::Linear};
}

std::string bars_svg(const json& value) {
  BarPlot plot{
      .title = value.at("title"), .note = value.value("note", ""), .values = axis_of(value.at("bars"))};
  for (const json& row : value.at("bars").at("rows")) plot.bars.push_back({row.at(0), row.at(1)});
  if (plot.bars.empty()) throw Error(ErrorKind::Data, "plot without bars: " + plot.title);
  return bar_plot_svg(plot);
}

std::string lines_svg(const json& value) {
  LinePlot plot{.title = value.at("title"),
                .note = value.value("note", ""),
                .x = axis_of(value.at("x")),
                .y = axis_of(value.at("y"))};
  for (const json& series : value.at("series")) {
    LinePlot::Line line{.name = series.at("name")};
    for (const json& point : series.at("points")) line.points.push_back({point.at(0), point.at(1)});
    if (line.points.empty()) throw Error(ErrorKind::Data, "line without points: " + line.name);
    plot.lines.push_back(std::move(line));
  }
  if (plot.lines.empty()) throw Error(ErrorKind::Data, "plot without lines: " + plot.title);
  return line_plot_svg(plot);
}

PlotFile plot_of(const json& value) {
  return {value.at("title"), value.at("file"), value.contains("bars") ? bars_svg(value) : lines_svg(value)};
}

Table table_of(const json& value) {
  Table table{value.at("title"), value.at("columns"), value.at("rows")};
  for (const std::vector<std::string>& row : table.rows) {
    if (row.size() != table.columns.size())
      throw Error(ErrorKind::Data, "row of other length in table: " + table.title);
  }
  return table;
}

AimCheck check_of(const json& value) {
  return {value.at("aim"), value.at("wanted"), value.at("measured"), value.at("reached")};
}

template <typename Item>
std::vector<Item> items_of(const json& document, const char* name, Item (*item_of)(const json&)) {
  std::vector<Item> items;
  for (const json& value : document.value(name, json::array())) items.push_back(item_of(value));
  return items;
}

Part part_of(const json& document) {
  return {document.value("settings", std::vector<std::string>{}), items_of(document, "tables", table_of),
          items_of(document, "plots", plot_of), items_of(document, "checks", check_of)};
}

}  // namespace

Part read_part(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw_read_error(file, errno);
  try {
    return part_of(json::parse(stream));
  } catch (const std::exception& error) {
    throw Error(ErrorKind::Data, file.string() + ": " + error.what());
  }
}

}  // namespace keysieve
