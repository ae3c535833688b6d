#include "tools/loader/http/page/set_card.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "tools/loader/http/page/distribution_svg.hpp"
#include "tools/loader/http/page/html_text.hpp"
#include "tools/loader/http/page/verdict.hpp"
#include "tools/program/markup_text.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kShownAtOnce = 5;  // of the history; the rest unfolds

// `value` and `note` are HTML.
std::string figure(std::string_view label, const std::string& value, const std::string& note = "") {
  return fmt::format("<div><dt>{}</dt><dd>{}{}</dd></div>", label, value,
                     note.empty() ? "" : fmt::format("<small>{}</small>", note));
}

std::string keys_figure(const LivePublication& published, const SetReport& report) {
  return figure("Keys", format_count(published.key_count),
                report.key_change ? format_change(*report.key_change) + " to the one before" : "");
}

std::string known_absent_figure(const LivePublication& published) {
  return published.known_absent ? figure("Known absent", format_count_of(*published.known_absent, "key"))
                                : "";
}

std::string expiry_figure(const LivePublication& published, UnixSeconds now) {
  if (published.valid_until == 0) return figure("Expires", "never");
  const bool is_over = published.valid_until <= now;
  const auto span = std::chrono::seconds(std::abs(published.valid_until - now));
  const std::string shown = format_duration(span);
  return figure(is_over ? "Expired" : "Expires",
                html_moment(published.valid_until, is_over ? shown + " ago" : "in " + shown));
}

std::string fpr_figure(const LivePublication& published, const SetReport& report) {
  return figure("Estimated FPR", format_share(published.estimated_fpr),
                report.max_fpr ? "at most " + format_share(*report.max_fpr) : "");
}

std::string layer_figure(const LivePublication& published) {
  if (!published.layer_fill) return figure("Live layer", "none");
  const double percent = published.layer_fill->fill_ratio * 100;
  return figure("Live layer", format_count_of(published.added_keys, "key"),
                fmt::format("<meter min=\"0\" max=\"100\" value=\"{:.1f}\"></meter> {} full", percent,
                            format_share(published.layer_fill->fill_ratio)));
}

std::string key_profile_figure(const LivePublication& published) {
  return published.key_profile.empty() ? "" : figure("Key profile", markup_text(published.key_profile));
}

bool is_other_in_store(const LivePublication& published, const SetReport& report) {
  return report.store_generation != 0 && report.store_generation != published.generation;
}

// The store has been asked since, if it has something else now.
std::string confirmed_figure(const LivePublication& published, const SetReport& report, UnixSeconds now) {
  return figure(is_other_in_store(published, report) ? "Was equal to the store" : "Found equal to the store",
                html_ago(published.last_confirmed, now));
}

std::string generation_figure(const LivePublication& published, const SetReport& report) {
  const std::string shown =
      published.generation == 0 ? std::string("from a file") : std::to_string(published.generation);
  return figure("Generation", shown,
                is_other_in_store(published, report)
                    ? fmt::format("the store has {}", report.store_generation)
                    : fmt::format("publication {}", published.id.publication));
}

std::string figures(const LivePublication& published, const SetReport& report, UnixSeconds now) {
  return "<dl class=\"figures\">" + keys_figure(published, report) + known_absent_figure(published) +
         figure("Keys as of", html_ago(published.as_of, now)) + generation_figure(published, report) +
         figure("Published", html_ago(published.published_at, now)) + expiry_figure(published, now) +
         confirmed_figure(published, report, now) + fpr_figure(published, report) +
         figure("Size", format_bytes(published.bytes), markup_text(published.kind)) +
         layer_figure(published) + key_profile_figure(published) + "</dl>";
}

std::string shards(const ShardDistribution& distribution) {
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>", distribution_svg(distribution),
                     distribution_caption(distribution));
}

std::string_view event_word(Event event) {
  switch (event) {
    case Event::Found:
      return "found live";
    case Event::Published:
      return "published";
    case Event::FromCache:
      return "published from the cache";
    case Event::Enlarged:
      return "live layer enlarged";
    case Event::Refused:
      return "refused";
  }
  return "";
}

std::string seconds_or_dash(const std::optional<double>& seconds) {
  return seconds ? markup_text(format_seconds(*seconds)) : "–";
}

std::string history_row(const HistoryEntry& entry, UnixSeconds now) {
  const bool is_refused = entry.event == Event::Refused;
  std::string row = fmt::format(
      "<tr{}><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n wide\">{}</td>"
      "<td class=\"n wide\">{}</td><td class=\"n wide\">{}</td></tr>",
      is_refused ? " class=\"refused\"" : "", html_ago(entry.at, now), event_word(entry.event),
      entry.generation == 0 ? std::string("file") : std::to_string(entry.generation),
      entry.key_count == 0 ? "–" : format_count(entry.key_count), format_bytes(entry.bytes),
      seconds_or_dash(entry.pull_seconds), seconds_or_dash(entry.publish_seconds));
  if (!entry.reason.empty()) {
    row += fmt::format("<tr class=\"reason\"><td colspan=\"7\">{}</td></tr>", markup_text(entry.reason));
  }
  return row;
}

std::string history_table(const SetReport& report, std::size_t first, std::size_t last, UnixSeconds now) {
  std::string table =
      "<table class=\"history\"><thead><tr><th>When</th><th>What</th><th class=\"n\">Generation</th>"
      "<th class=\"n\">Keys</th><th class=\"n wide\">Size</th><th class=\"n wide\">Pull</th>"
      "<th class=\"n wide\">Publish</th></tr></thead><tbody>";
  for (std::size_t i = first; i < last; ++i) table += history_row(report.history[i], now);
  return table + "</tbody></table>";
}

std::string history(const SetReport& report, UnixSeconds now) {
  const std::size_t count = report.history.size();
  if (count == 0) return "";
  const std::size_t shown = std::min(count, kShownAtOnce);
  std::string text = "<h3>History</h3>" + history_table(report, 0, shown, now);
  if (count == shown) return text;
  return text + fmt::format("<details><summary>{} earlier</summary>{}</details>", count - shown,
                            history_table(report, shown, count, now));
}

std::string sentences(const SetFacts& set) {
  std::string text = fmt::format("<p class=\"answer\">{}</p>", markup_text(answer_sentence(set)));
  if (!set.reason.empty()) {
    text += fmt::format("<p class=\"why\"><b>Readers:</b> {}</p>", markup_text(set.reason));
  }
  if (!set.loader->trouble_reason.empty()) {
    text += fmt::format("<p class=\"why\"><b>Loader:</b> {}</p>", markup_text(set.loader->trouble_reason));
  }
  if (!set.loader->cache_trouble.empty()) {
    text += fmt::format(
        "<p class=\"why\"><b>Cache:</b> {}: after a reboot without the store, this host would not have "
        "what is live</p>",
        markup_text(set.loader->cache_trouble));
  }
  return text;
}

}  // namespace

std::string state_badges(const SetFacts& set) {
  const Availability availability = set.availability;
  std::string badges = fmt::format("<span class=\"badge {}\">{}</span>", to_string(verdict_of(availability)),
                                   state_word(availability));
  for (const Trouble trouble : kSetTroubles) {
    if (trouble == Trouble::None || !set.loader->troubles().has(trouble)) continue;
    badges += fmt::format(" <span class=\"badge trouble\">{}</span>", trouble_word(trouble));
  }
  return badges;
}

std::string set_card(const SetFacts& set, const LoaderView& view) {
  const std::string name = markup_text(set.name);
  std::string card = fmt::format(
      "<article class=\"card {0}\" id=\"{1}\"><header><h2>{1}</h2>{2}<span class=\"store\">from {3}</span>"
      "</header>{4}",
      to_string(verdict_of(set)), name, state_badges(set), markup_text(set.loader->store), sentences(set));
  if (set.published) {
    card += "<div class=\"body\">" + figures(*set.published, *set.loader, view.now) +
            (set.shards ? shards(*set.shards) : "") + "</div>";
  }
  return card + history(*set.loader, view.now) + "</article>\n";
}

}  // namespace keysieve
