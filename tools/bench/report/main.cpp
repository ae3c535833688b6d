// Makes the page of all benches: bench_report TEMPLATE PARTS PAGE. The template's {{part.tables}},
// {{part.plots}}, {{part.checks}} and {{part.settings}} are filled in from PARTS/part.json; plots are written
// into a folder beside the page that has its name. A part that was not measured is named in its place.
#include <fmt/chrono.h>
#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "core/base/error.hpp"
#include "tools/bench/report/page.hpp"
#include "tools/bench/run_main.hpp"

namespace keysieve {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw_read_error(file, errno);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) throw std::runtime_error(file.string() + ": cannot be written");
}

// The day on which a file was written, in UTC.
std::string date_of(const fs::path& file) {
  const auto written = std::chrono::file_clock::to_sys(fs::last_write_time(file));
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::chrono::system_clock::to_time_t(
                                        std::chrono::time_point_cast<std::chrono::seconds>(written))));
}

class Report {
 public:
  Report(fs::path parts, fs::path page) : parts_(std::move(parts)), page_(std::move(page)) {}

  // `word` is PART.WHAT.
  std::string place(std::string_view word) {
    const auto dot = word.find('.');
    const std::string name(word.substr(0, dot));
    const std::string_view what = dot == std::string_view::npos ? "" : word.substr(dot + 1);
    if (!fs::exists(parts_ / (name + ".json"))) return fmt::format("*{} was not measured.*\n", name);
    const Part& part = this->part(name);
    if (what == "tables") return tables_markdown(part);
    if (what == "checks") return checks_markdown(part);
    if (what == "settings")
      return settings_markdown(part) + fmt::format("- measured on {}\n", date_of(parts_ / (name + ".json")));
    if (what != "plots") throw Error(ErrorKind::Data, fmt::format("unknown place in the template: {}", word));
    for (const PlotFile& plot : part.plots) write(plot_folder() / (plot.name + ".svg"), plot.svg);
    return plots_markdown(part, plot_folder().filename());
  }

  void write_page(const fs::path& from_template) {
    fs::create_directories(plot_folder());
    write(page_, fill_in(text_of(from_template), [this](std::string_view word) { return place(word); }));
  }

 private:
  [[nodiscard]] fs::path plot_folder() const { return fs::path(page_).replace_extension(); }

  const Part& part(const std::string& name) {
    if (!known_.contains(name)) known_.emplace(name, read_part(parts_ / (name + ".json")));
    return known_.at(name);
  }

  fs::path parts_;
  fs::path page_;
  std::map<std::string, Part> known_;
};

}  // namespace
}  // namespace keysieve

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: bench_report TEMPLATE PARTS PAGE\n", stderr);
    return 64;
  }
  return keysieve::run_main("bench_report", [=] {
    keysieve::Report(argv[2], argv[3]).write_page(argv[1]);
    return 0;
  });
}
