#include "tools/cli/set_tables.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdlib>

#include "tools/cli/report.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

std::string ago_if_any(UnixSeconds moment, UnixSeconds now) {
  if (moment == 0) return "-";
  const std::string span = format_duration(std::chrono::seconds(std::abs(now - moment)));
  const std::string longest_unit = span.substr(0, span.find(' '));
  return moment > now ? "in " + longest_unit : longest_unit + " ago";
}

std::string share_if_any(const std::optional<std::uint64_t>& part, std::uint64_t whole) {
  return part ? format_share(static_cast<double>(*part) / static_cast<double>(whole)) : "-";
}

std::string count_if_any(const std::optional<std::uint64_t>& count) {
  return count ? format_count(*count) : "-";
}

// "none", or the codes: "refused,not_cached".
constexpr std::string_view kNoTrouble = "none";

std::string words_of(const std::vector<std::string_view>& troubles) {
  return troubles.empty() ? std::string(kNoTrouble) : fmt::format("{}", fmt::join(troubles, ","));
}

// A column about what is live in a set, or about the set itself.
template <typename Facts>
struct Column {
  const char* heading;
  bool is_wide;  // shown only with --wide: the others usually fit into 100 columns
  std::string (*cell)(const Facts& facts, UnixSeconds now);
};

constexpr std::array<Column<LivePublication>, 13> kColumns{{
    {"publication", true, [](const auto& live, auto) { return std::to_string(live.id.publication); }},
    {"generation", false,
     [](const auto& live, auto) { return live.generation == 0 ? "file" : std::to_string(live.generation); }},
    {"keys", false, [](const auto& live, auto) { return format_count(live.key_count); }},
    {"known absent", true, [](const auto& live, auto) { return count_if_any(live.known_absent); }},
    {"values", true,
     [](const auto& live, auto) {
       return live.value_bits == 0 ? "-" : format_count_of(live.value_bits, "bit");
     }},
    {"added", false,
     [](const auto& live, auto) { return live.layer_fill ? format_count(live.added_keys) : "-"; }},
    {"live layer full", true,
     [](const auto& live, auto) {
       return live.layer_fill ? format_share(live.layer_fill->fill_ratio) : "-";
     }},
    {"size", true, [](const auto& live, auto) { return format_bytes(live.bytes); }},
    {"in huge pages", true,
     [](const auto& live, auto) { return share_if_any(live.huge_page_bytes, live.bytes); }},
    {"estimated FPR", true, [](const auto& live, auto) { return format_share(live.estimated_fpr); }},
    {"keys as of", false, [](const auto& live, auto now) { return ago_if_any(live.as_of, now); }},
    {"store checked", false, [](const auto& live, auto now) { return ago_if_any(live.last_confirmed, now); }},
    {"loader seen", false, [](const auto& live, auto now) { return ago_if_any(live.heartbeat, now); }},
}};
constexpr std::array<Column<SetFacts>, 0> kSetColumns{};

constexpr std::array<Column<SeenFacts>, 8> kWindowColumns{{
    {"keys of window", false,
     [](const auto& live, auto) { return "≈ " + format_count(static_cast<std::uint64_t>(live.keys)); }},
    {"made for", false, [](const auto& live, auto) { return format_count(live.capacity); }},
    {"window ends", true, [](const auto& live, auto now) { return ago_if_any(live.newest_ends, now); }},
    {"windows", false, [](const auto& live, auto) { return format_count(live.windows); }},
    {"filters", true, [](const auto& live, auto) { return format_count(live.filters); }},
    {"estimated FPR", false, [](const auto& live, auto) { return format_share(live.estimated_fpr); }},
    {"planned FPR", true, [](const auto& live, auto) { return format_share(live.target_fpr); }},
    {"size", false, [](const auto& live, auto) { return format_bytes(live.bytes); }},
}};
constexpr std::array<Column<SeenSetFacts>, 2> kSeenSetColumns{{
    {"loader seen", false, [](const auto& set, auto now) { return ago_if_any(set.looked_at, now); }},
    {"on_unavailable", true,
     [](const auto& set, auto) {
       return set.on_unavailable ? std::string(to_string(*set.on_unavailable)) : "-";
     }},
}};

// Knows the states that set_facts() and seen_set_facts() name.
Colour colour_of_state(const std::string& state) {
  if (state == to_string(Availability::Ready)) return Colour::None;
  const bool is_meant = state == to_string(Availability::Bypassed);
  return is_meant ? Colour::Yellow : Colour::Red;
}

Colour colour_of_trouble(const std::string& words) {
  return words == kNoTrouble ? Colour::None : Colour::Red;
}

// Why the set does not answer, and until when if that is known.
void print_reason(const SetFacts& set) {
  if (set.reason.empty()) return;
  const bool is_by_will = set.bypasses && code_of(set) == to_string(Availability::Bypassed);
  const UnixSeconds until = is_by_will ? bypassed_until(*set.bypasses) : 0;
  fmt::print("{}: {}{}\n", set.name, set.reason, until == 0 ? "" : ", until " + format_moment(until));
}

// Also what PHP gets meanwhile.
void print_reason(const SeenSetFacts& set) {
  if (set.reason.empty()) return;
  fmt::print("{}: {}{}{}\n", set.name, set.reason,
             set.bypass_until == 0 ? "" : ", until " + format_moment(set.bypass_until),
             set.on_unavailable ? fmt::format("; on_unavailable is {}", to_string(*set.on_unavailable)) : "");
}

// The table, and below it why sets do not answer.
template <typename Set, typename Live>
void print_table(const char* what, const std::vector<Set>& sets, std::optional<Live> Set::*live_of,
                 const auto& columns_of_live, const auto& columns_of_set, UnixSeconds now, bool is_wide) {
  const auto add = [is_wide](std::vector<std::string>& row, const auto& columns, const auto& cell_of) {
    for (const auto& column : columns) {
      if (is_wide || !column.is_wide) row.push_back(cell_of(column));
    }
  };
  const auto heading_of = [](const auto& column) { return std::string(column.heading); };
  std::vector<std::string> headings{what, "state", "trouble"};
  add(headings, columns_of_live, heading_of);
  add(headings, columns_of_set, heading_of);
  Table table(std::move(headings));
  table.colour_column(1, colour_of_state);
  table.colour_column(2, colour_of_trouble);
  for (const Set& set : sets) {
    const std::optional<Live>& live = set.*live_of;
    std::vector<std::string> row{set.name, std::string(to_string(set.availability)), words_of(set.troubles)};
    add(row, columns_of_live,
        [&](const auto& column) { return live ? column.cell(*live, now) : std::string("-"); });
    add(row, columns_of_set, [&](const auto& column) { return column.cell(set, now); });
    table.add(std::move(row));
  }
  table.print();
  for (const Set& set : sets) print_reason(set);
}

}  // namespace

void print_set_table(const std::vector<SetFacts>& sets, UnixSeconds now, bool is_wide) {
  print_table("set", sets, &SetFacts::published, kColumns, kSetColumns, now, is_wide);
}

void print_seen_set_table(const std::vector<SeenSetFacts>& sets, UnixSeconds now, bool is_wide) {
  print_table("seen set", sets, &SeenSetFacts::live, kWindowColumns, kSeenSetColumns, now, is_wide);
}

}  // namespace keysieve
