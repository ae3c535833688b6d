#include "tools/loader/http/page/seen_table.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tools/loader/http/page/html_text.hpp"
#include "tools/program/markup_text.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

std::string reason_of(const SeenSetFacts& seen) {
  if (!seen.loader->trouble.empty()) return seen.loader->trouble;
  if (!seen.reason.empty()) return seen.reason;
  if (seen.loader->is_full) return "its window is full: the false-positive rate rises";
  if (seen.loader->saves_lost == 0) return "";
  return fmt::format("restored without {} that the store has lost: their keys are new once more",
                     format_count_of(seen.loader->saves_lost, "save"));
}

std::string row(const SeenSetFacts& seen, UnixSeconds now) {
  const auto& live = seen.live;
  const std::string reason = reason_of(seen);
  return fmt::format(
      "<tr><th scope=\"row\">{}</th><td><span class=\"badge {}\">{}</span>{}</td><td class=\"n\">{}</td>"
      "<td class=\"n wide\">{}</td><td class=\"n\">{}</td><td class=\"n wide\">{}</td><td class=\"n "
      "wide\">{}</td></tr>",
      markup_text(seen.name), to_string(verdict_of(seen)), state_word(seen.availability),
      reason.empty() ? "" : fmt::format("<p>{}</p>", markup_text(reason)),
      live ? fmt::format("≈ {} of {}", format_count(static_cast<std::uint64_t>(live->keys)),
                         format_count(live->capacity))
           : "–",
      live ? format_count(live->windows) : "–", live ? format_share(live->estimated_fpr) : "–",
      live ? format_bytes(live->bytes) : "–", html_ago(seen.loader->saved_at, now));
}

}  // namespace

Verdict verdict_of(const SeenSetFacts& seen) noexcept {
  const bool has_trouble =
      !seen.loader->trouble.empty() || seen.loader->is_full || seen.loader->saves_lost != 0;
  return std::max(verdict_of(seen.availability), has_trouble ? Verdict::Notice : Verdict::Good);
}

std::string seen_table(const LoaderView& view) {
  if (view.seen.empty()) return "";
  std::string table =
      "<table class=\"overview\"><thead><tr><th>Seen set</th><th>State</th><th class=\"n\">Keys of the "
      "window</th>"
      "<th class=\"n wide\">Windows</th><th class=\"n\">Estimated FPR</th><th class=\"n wide\">Size</th>"
      "<th class=\"n wide\">Saved</th></tr></thead><tbody>";
  for (const SeenSetFacts& seen : view.seen) table += row(seen, view.now);
  return table + "</tbody></table>\n";
}

}  // namespace keysieve
