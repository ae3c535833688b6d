#include "tools/cli/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>

#include "core/worker/base/error.hpp"
#include "core/worker/snapshot/layout.hpp"
#include "tools/program/program.hpp"

namespace keysieve {
namespace {

// A moment and a size too, but not the id of a build, which may begin with a digit.
bool is_number(const std::string& cell) {
  if (cell == "-") return true;
  return !cell.empty() && cell.size() < 2 * sizeof(BuildId) &&
         std::isdigit(static_cast<unsigned char>(cell.front())) != 0;
}

}  // namespace

void Report::add(std::string label, std::string shown, const std::string& name, Json value) {
  lines_.push_back({std::move(label), std::move(shown)});
  add_member(name, std::move(value));
}

void Report::print() const {
  if (is_said_as_json()) return print_json(members_);
  std::size_t width = 0;
  for (const Line& line : lines_) width = std::max(width, line.label.size());
  for (const Line& line : lines_) fmt::print("{:<{}}  {}\n", line.label, width, line.shown);
}

void print_json(const Json& value) {
  fmt::print("{}\n", value.dump(2, ' ', false, Json::error_handler_t::replace));
}

void flush_output() {
  if (std::fflush(stdout) == 0) return;
  const int error_number = errno;
  end_if_reader_is_gone(error_number);
  throw_write_error("standard output", error_number);
}

void Table::print() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (std::size_t number = 0; number < rows_.size(); ++number) {
    const auto& row = rows_[number];
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool right = number == 0 ? rows_.size() > 1 && is_number(rows_[1][i]) : is_number(row[i]);
      const std::string padding(widths[i] - row[i].size(), ' ');
      line += (right ? padding + row[i] : row[i] + padding) + "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
}

}  // namespace keysieve
