#include "tools/doctor/findings.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/program/printable.hpp"

namespace keysieve {

std::string_view to_string(Severity severity) noexcept {
  constexpr std::array<std::string_view, 3> kNames{"ok", "warning", "error"};
  return kNames[static_cast<std::size_t>(severity)];
}

std::string Finding::link() const {
  return severity == Severity::Ok ? "" : fmt::format("docs/runbook.md#{}", code);
}

void Findings::add(Severity severity, std::string subject, std::string_view code, std::string_view fact) {
  list_.push_back({severity, std::move(subject), code, printable(fact)});
}

Severity Findings::worst() const noexcept {
  Severity worst = Severity::Ok;
  for (const Finding& finding : list_) worst = std::max(worst, finding.severity);
  return worst;
}

nlohmann::ordered_json Findings::to_json() const {
  auto list = nlohmann::ordered_json::array();
  for (const Finding& finding : list_) {
    const std::string link = finding.link();
    list.push_back({{"severity", to_string(finding.severity)},
                    {"subject", finding.subject},
                    {"code", finding.code},
                    {"fact", finding.fact},
                    {"runbook", link.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(link)}});
  }
  return list;
}

std::string Findings::to_text() const {
  std::size_t subject_width = 0;
  std::size_t code_width = 0;
  for (const Finding& finding : list_) {
    subject_width = std::max(subject_width, finding.subject.size());
    code_width = std::max(code_width, finding.code.size());
  }
  std::string text;
  for (const Finding& finding : list_) {
    const std::string link = finding.link();
    text += fmt::format("{:<7}  {:<{}}  {:<{}}  {}{}\n", to_string(finding.severity), finding.subject,
                        subject_width, finding.code, code_width, finding.fact,
                        link.empty() ? "" : " (" + link + ")");
  }
  return text;
}

}  // namespace keysieve
