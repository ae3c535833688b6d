#include "tools/bench/report/page.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace keysieve {
namespace {

std::string row_markdown(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string table_markdown(const std::vector<std::string>& columns,
                           const std::vector<std::vector<std::string>>& rows) {
  std::string text = row_markdown(columns) + "|---|";
  for (std::size_t i = 1; i < columns.size(); ++i) text += "---:|";
  text += '\n';
  for (const std::vector<std::string>& row : rows) text += row_markdown(row);
  return text;
}

}  // namespace

std::string tables_markdown(const Part& part) {
  std::string text;
  for (const Table& table : part.tables) {
    text += fmt::format("{}**{}**\n\n{}", text.empty() ? "" : "\n", table.title,
                        table_markdown(table.columns, table.rows));
  }
  return text;
}

std::string plots_markdown(const Part& part, const std::string& plot_folder) {
  std::string text;
  for (const PlotFile& plot : part.plots) {
    text += fmt::format("{}![{}]({}/{}.svg)\n", text.empty() ? "" : "\n", plot.title, plot_folder, plot.name);
  }
  return text;
}

std::string checks_markdown(const Part& part) {
  std::vector<std::vector<std::string>> rows;
  rows.reserve(part.checks.size());
  for (const AimCheck& check : part.checks) {
    rows.push_back({check.aim, check.wanted, check.measured, check.reached ? "yes" : "**no**"});
  }
  return table_markdown({"aim", "wanted", "measured", "reached"}, rows);
}

std::string settings_markdown(const Part& part) {
  std::string text;
  for (const std::string& line : part.settings) text += "- " + line + "\n";
  return text;
}

std::string fill_in(std::string_view text, const std::function<std::string(std::string_view)>& replacement) {
  std::string result;
  for (;;) {
    const auto begin = text.find("{{");
    if (begin == std::string_view::npos) return result.append(text);
    const auto end = text.find("}}", begin);
    if (end == std::string_view::npos) throw Error(ErrorKind::Data, "{{ without }}");
    result.append(text.substr(0, begin)).append(replacement(text.substr(begin + 2, end - begin - 2)));
    text.remove_prefix(end + 2);
  }
}

}  // namespace keysieve
