#include "tools/loader/http/page/status_page.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "tools/loader/http/page/html_text.hpp"
#include "tools/loader/http/page/seen_table.hpp"
#include "tools/loader/http/page/set_card.hpp"
#include "tools/loader/http/page/verdict.hpp"
#include "tools/program/markup_text.hpp"
#include "tools/program/program.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr int kRefreshSeconds = 10;

using Sets = std::vector<const SetFacts*>;

// The worst come first.
Sets by_verdict(const LoaderView& view) {
  Sets sets;
  for (const SetFacts& set : view.sets) sets.push_back(&set);
  std::stable_sort(sets.begin(), sets.end(),
                   [](const SetFacts* a, const SetFacts* b) { return verdict_of(*a) > verdict_of(*b); });
  return sets;
}

Verdict worst_of(const LoaderView& view, const Sets& sets) {
  if (!view.heartbeat.is_alive) return Verdict::Bad;
  Verdict worst = sets.empty() ? Verdict::Good : verdict_of(*sets.front());
  for (const SeenSetFacts& seen : view.seen) worst = std::max(worst, verdict_of(seen));
  return worst;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "";
  return name.data();
}

// A dot in the colour of the worst verdict; inline, so that the browser requests no file.
std::string icon(Verdict worst) {
  constexpr std::array kColours{"%232f9e5f", "%23d99013", "%23d64545"};
  return fmt::format(
      "<link rel=\"icon\" href=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 "
      "16'>"
      "<circle cx='8' cy='8' r='7' fill='{}'/></svg>\">",
      kColours[static_cast<std::size_t>(worst)]);
}

std::chrono::seconds silence(const LoaderView& view) {
  return std::chrono::floor<std::chrono::seconds>(view.heartbeat.age);
}

std::string headline(const LoaderView& view, const Sets& sets) {
  if (!view.heartbeat.is_alive) {
    return "The loader has given no sign of life for " + format_duration(silence(view));
  }
  const auto good = std::count_if(sets.begin(), sets.end(),
                                  [](const SetFacts* set) { return verdict_of(*set) == Verdict::Good; }) +
                    std::count_if(view.seen.begin(), view.seen.end(),
                                  [](const SeenSetFacts& seen) { return verdict_of(seen) == Verdict::Good; });
  const auto all = static_cast<std::ptrdiff_t>(sets.size() + view.seen.size());
  if (good == all) return all == 1 ? "The set is well" : fmt::format("All {} sets are well", all);
  return fmt::format("{} of {} sets {} a look", all - good, all, all - good == 1 ? "needs" : "need");
}

std::string remedy(const LoaderView& view) {
  if (view.heartbeat.is_alive) return "";
  const UnixSeconds since = view.now - silence(view).count();
  return fmt::format(
      "<p class=\"why\">What is published stays live; nothing has been refreshed since {}. "
      "<b>Restart it: <code>systemctl restart keysieved</code></b></p>",
      html_moment(since, format_moment(since)));
}

std::string_view state_of_loader(const LoaderView& view) {
  if (!view.heartbeat.is_alive) return "has stopped";
  return view.loader.is_ready ? "ready" : "not ready yet";
}

std::string directory_text(const LoaderView& view) {
  const std::string path = markup_text(view.loader.directory);
  if (!view.directory) return fmt::format("<code>{}</code> cannot be read", path);
  const MemoryUse& use = view.directory->memory;
  std::string text = fmt::format("<code>{}</code>: {}", path, format_bytes(use.visible_bytes));
  if (use.pinned_bytes)
    text += fmt::format(", {} more pinned by idle workers", format_bytes(*use.pinned_bytes));
  return text;
}

std::string top(const LoaderView& view, const Sets& sets, Verdict worst) {
  const auto up = std::chrono::seconds(std::max<UnixSeconds>(0, view.now - view.loader.started_at));
  return fmt::format(
      "<header class=\"top {}\"><p class=\"host\"><b>keysieve</b> on {}</p><h1>{}</h1>{}"
      "<p class=\"facts\">{}</p><p class=\"facts\">keysieved {}, up {}, {}; shown {}</p></header>\n",
      to_string(worst), markup_text(host_name()), headline(view, sets), remedy(view), directory_text(view),
      kVersion, format_duration(up), state_of_loader(view), html_moment(view.now, format_moment(view.now)));
}

std::string stores(const LoaderView& view) {
  std::string list;
  for (const StoreReport& store : view.loader.stores) {
    list += fmt::format("<li><b>{}</b> <span class=\"badge {}\">{}</span> <code>{}</code>{}</li>",
                        markup_text(store.name), store.is_up ? "good" : "bad", store.is_up ? "Up" : "Away",
                        markup_text(store.shown),
                        store.failure.empty() ? "" : fmt::format("<p>{}</p>", markup_text(store.failure)));
  }
  return list.empty() ? "" : "<ul class=\"stores\" aria-label=\"Stores\">" + list + "</ul>\n";
}

std::string overview_row(const SetFacts& set, UnixSeconds now) {
  const std::string name = markup_text(set.name);
  const auto& published = set.published;
  return fmt::format(
      "<tr><th scope=\"row\"><a href=\"#{0}\">{0}</a></th><td>{1}</td><td class=\"n\">{2}</td>"
      "<td class=\"n wide\">{3}</td><td class=\"n\">{4}</td><td class=\"n wide\">{5}</td></tr>",
      name, state_badges(set), published ? format_count(published->key_count) : "–",
      published && published->generation != 0 ? std::to_string(published->generation) : "–",
      published ? html_ago(published->as_of, now) : "–", published ? format_bytes(published->bytes) : "–");
}

std::string overview(const LoaderView& view, const Sets& sets) {
  if (sets.size() < 2) return "";
  std::string table =
      "<table class=\"overview\"><thead><tr><th>Set</th><th>State</th><th class=\"n\">Keys</th>"
      "<th class=\"n wide\">Generation</th><th class=\"n\">Keys as of</th><th class=\"n wide\">Size</th></tr>"
      "</thead><tbody>";
  for (const SetFacts* set : sets) table += overview_row(*set, view.now);
  return table + "</tbody></table>\n";
}

}  // namespace

std::string status_page(const LoaderView& view, const std::string& nonce) {
  const Sets sets = by_verdict(view);
  const Verdict worst = worst_of(view, sets);
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{} · keysieve on {}</title>"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<meta name=\"color-scheme\" content=\"light dark\"><meta http-equiv=\"refresh\" content=\"{}\">{}"
      "<style nonce=\"{}\">{}</style></head><body>\n",
      headline(view, sets), markup_text(host_name()), kRefreshSeconds, icon(worst), nonce, kPageStyle);
  page += top(view, sets, worst) + "<main>" + stores(view) + overview(view, sets) + seen_table(view);
  for (const SetFacts* set : sets) page += set_card(*set, view);
  return page +
         fmt::format(
             "</main><footer>Refreshed every {} seconds. <a href=\"/metrics\">metrics</a> "
             "<a href=\"/status.json\">JSON</a> <a href=\"/healthz\">health</a></footer></body></html>\n",
             kRefreshSeconds);
}

std::string content_security_policy(const std::string& nonce) {
  return fmt::format(
      "default-src 'none'; style-src 'nonce-{}'; img-src data:; base-uri 'none'; form-action 'none'; "
      "frame-ancestors 'none'",
      nonce);
}

}  // namespace keysieve
