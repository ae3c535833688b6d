// Draws the plots of tools/workshop/bench/report.php: bench_draw FOLDER reads a JSON array of plots, as
// tools/workshop/bench/README.md describes them, and writes an SVG file of each into the folder.
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/worker/base/error.hpp"
#include "tools/plot/measured_plot.hpp"
#include "tools/workshop/bench/program.hpp"

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

void draw(const json& plot, const std::string& folder) {
  const std::string svg = plot.contains("bars") ? bars_svg(plot) : lines_svg(plot);
  const std::string path = folder + "/" + plot.at("file").get<std::string>() + ".svg";
  std::ofstream file(path, std::ios::binary);
  file << svg << std::flush;
  if (!file) throw Error(ErrorKind::Data, path + " cannot be written");
}

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  return keysieve::run_main("bench_draw FOLDER", argc, argv, [](char** arguments) {
    for (const auto& plot : nlohmann::json::parse(std::cin)) keysieve::draw(plot, arguments[1]);
  });
}
