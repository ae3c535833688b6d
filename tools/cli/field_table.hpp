// Prints the columns of a table of fields, a row for each set.
#pragma once

#include <fmt/core.h>

#include <span>
#include <string>
#include <vector>

#include "tools/cli/report.hpp"
#include "tools/status/fields.hpp"

namespace keysieve {

// "-" without a value.
std::string cell_of(Unit unit, const Json& value, UnixSeconds now);

template <typename Facts>
void print_columns(std::span<const Field<Facts>> fields, const std::vector<Facts>& all, UnixSeconds now,
                   bool is_wide) {
  std::vector<const Field<Facts>*> columns;
  std::vector<std::string> headings;
  for (const Field<Facts>& field : fields) {
    if (field.heading.empty() || (field.is_wide && !is_wide)) continue;
    columns.push_back(&field);
    headings.emplace_back(field.heading);
  }
  Table table(std::move(headings));
  for (const Facts& facts : all) {
    std::vector<std::string> row;
    row.reserve(columns.size());
    for (const auto* field : columns) row.push_back(cell_of(field->unit, field->value(facts), now));
    table.add(std::move(row));
  }
  table.print();
}

// The same of one set, in one line: "ready: generation 7, keys 80,000, …"
template <typename Set>
std::string line_of(std::span<const Field<Set>> fields, const Set& set, UnixSeconds now) {
  std::string text;
  for (const Field<Set>& field : fields.subspan(1)) {
    const bool is_shown =
        !field.heading.empty() && !field.is_wide && field.unit != Unit::State && field.unit != Unit::Codes;
    const Json value = is_shown ? field.value(set) : Json();
    if (value.is_null()) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? ": " : ", ", field.heading, cell_of(field.unit, value, now));
  }
  return (set.reason.empty() ? std::string(to_string(set.availability)) : set.reason) + text;
}

}  // namespace keysieve
