#include "tools/doctor/findings.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/base/printable.hpp"

namespace keysieve {
namespace {

constexpr std::array<std::string_view, 3> kNames{"ok", "warning", "error"};

Severity severity_named(std::string_view name) {
  return static_cast<Severity>(std::find(kNames.begin(), kNames.end(), name) - kNames.begin());
}

}  // namespace

std::string_view to_string(Severity severity) noexcept {
  return kNames[static_cast<std::size_t>(severity)];
}

void Findings::add(Finding finding) {
  finding.seen = printable(finding.seen);
  finding.remedy = printable(finding.remedy);
  list_.push_back(std::move(finding));
}

Severity Findings::worst() const noexcept {
  Severity worst = Severity::Ok;
  for (const Finding& finding : list_) worst = std::max(worst, finding.severity);
  return worst;
}

nlohmann::ordered_json Findings::to_json() const {
  auto list = nlohmann::ordered_json::array();
  for (const Finding& finding : list_) {
    nlohmann::ordered_json remedy;
    if (!finding.remedy.empty()) remedy = finding.remedy;
    list.push_back({{"subject", finding.subject},
                    {"health", to_string(finding.severity)},
                    {"seen", finding.seen},
                    {"remedy", remedy}});
  }
  return list;
}

void Findings::take_json(const nlohmann::ordered_json& json) {
  for (const auto& finding : json) {
    const auto& remedy = finding.at("remedy");
    add({severity_named(finding.at("health").get<std::string>()), finding.at("subject"), finding.at("seen"),
         remedy.is_null() ? "" : remedy.get<std::string>()});
  }
}

}  // namespace keysieve
