// One table of facts about each of a set, a directory, a store and the loader. A row has a fact's value, and
// its names as a member of JSON, as a column of `keysieve status` and as a metric. One function for
// each form renders all tables. What is not known, and what there is not, is null, "-" and no sample.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tools/status/seen_set_facts.hpp"
#include "tools/status/set_facts.hpp"

namespace keysieve {

using Json = nlohmann::ordered_json;

// How a value is written for people; JSON has it as it is.
enum class Unit {
  Plain,
  Count,
  Estimate,  // a count, more or less
  Bits,
  Size,        // in bytes
  Share,       // from 0 to 1
  Generation,  // 0: published from a file
  Age,         // Unix seconds, shown as the time since then; so in metrics
  Until,       // Unix seconds, shown as the time until then; so in metrics
  Moment,      // Unix seconds, shown as they are
  State,       // an Availability, or how bad something is
  Codes,       // of the runbook
};

template <typename Facts>
struct Field {
  std::string_view member;  // empty: it is in no JSON
  Unit unit;
  Json (*value)(const Facts& facts);
  std::string_view metric{};   // empty: it is none. The name of a counter ends with "_total"
  std::string_view help{};     // of the metric
  std::string_view heading{};  // empty: it is no column
  bool is_wide = false;        // shown only with --wide: the others usually fit into 100 columns
  std::string_view label{};    // of a metric whose value is an object: each member is a sample
};

inline constexpr bool kWide = true;

template <typename Value>
Json to_value(const Value& value) {
  return Json(value);
}
template <typename Value>
Json to_value(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}
// Null if the value is 0 or empty.
template <typename Value>
Json to_value_if_any(const Value& value) {
  return value == Value() ? Json() : Json(value);
}

template <auto member>
Json fact(const auto& facts) {
  return to_value(facts.*member);
}
template <auto member>
Json fact_if_any(const auto& facts) {
  return to_value_if_any(facts.*member);
}

// {"ready": 1, "missing": 0, …}, for a metric with a label.
Json one_of(const auto& all, const auto& is_it) {
  Json values = Json::object();
  for (const auto& one : all) values[std::string(to_string(one))] = is_it(one) ? 1 : 0;
  return values;
}

template <typename Facts>
Json object_of(std::span<const Field<Facts>> fields, const Facts& facts) {
  Json object = Json::object();
  for (const Field<Facts>& field : fields) {
    if (!field.member.empty()) object[std::string(field.member)] = field.value(facts);
  }
  return object;
}

template <typename Facts>
Json list_of(std::span<const Field<Facts>> fields, const std::vector<Facts>& all) {
  Json list = Json::array();
  for (const Facts& facts : all) list.push_back(object_of(fields, facts));
  return list;
}

extern const std::span<const Field<DirectoryStatus>> kDirectoryFields;
extern const std::span<const Field<SetFacts>> kSetFields;
extern const std::span<const Field<SeenSetFacts>> kSeenSetFields;

}  // namespace keysieve
