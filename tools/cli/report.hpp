// What a verb has to say, once: printed as aligned lines for people, or as one JSON object with --json. The
// end of all printing is here too.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/cli/report_value.hpp"

namespace keysieve {

class Report {
 public:
  // One line "<label>  <shown>", and the member `name` of the object. Names carry units: bytes, fpr, unix
  // time.
  void add(std::string label, std::string shown, const std::string& name, ReportValue value);

  // A member without a line: what is part of another's text.
  void add_member(const std::string& name, ReportValue value) {
    members_.push_back({name, std::move(value)});
  }

  void print(bool as_json) const;

 private:
  struct Line {
    std::string label;
    std::string shown;
  };
  std::vector<Line> lines_;
  ReportValue::Members members_;
};

// What was printed counts only once it is written: standard output may be a full disk. Throws
// CannotCreate.
void flush_output();

// Rows under headings, columns as wide as their widest cell; numbers are given as text and stand to the
// right.
class Table {
 public:
  explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace keysieve
