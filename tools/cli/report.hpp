// What a verb has to say, once: printed as aligned lines for people, or as one JSON object with --json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/messages.hpp"

namespace keysieve {

using Json = nlohmann::ordered_json;

class Report {
 public:
  // One line "<label>  <shown>", and the member `name` of the object. Names carry units: bytes, fpr, unix
  // time.
  void add(std::string label, std::string shown, const std::string& name, Json value);

  // A line of which label and text are also the member's name and value.
  void add(const std::string& name, const std::string& text) { add(name, text, name, text); }

  // A member without a line: what is part of another's text.
  void add_member(const std::string& name, Json value) { members_[name] = std::move(value); }

  // The line only if `is_said`; else the member alone, as `otherwise`.
  void add_if(bool is_said, std::string label, std::string shown, const std::string& name, Json value,
              Json otherwise = nullptr) {
    if (is_said) return add(std::move(label), std::move(shown), name, std::move(value));
    add_member(name, std::move(otherwise));
  }

  void print() const;

 private:
  struct Line {
    std::string label;
    std::string shown;
  };
  std::vector<Line> lines_;
  Json members_ = Json::object();
};

// For an answer that has lists or nested objects. Bytes that are not UTF-8 are shown as U+FFFD.
void print_json(const Json& value);

// Writes what was printed, because standard output may be a full disk. Throws CannotCreate. Ends the
// program if its reader has gone.
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
