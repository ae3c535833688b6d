#include "tools/loader/http/page/verdict.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tools/program/units.hpp"

namespace keysieve {

Verdict verdict_of(Availability availability) noexcept {
  if (availability == Availability::Ready) return Verdict::Good;
  return availability == Availability::Bypassed ? Verdict::Notice : Verdict::Bad;
}

Verdict verdict_of(const SetFacts& set) noexcept {
  const Troubles troubles = set.loader->troubles();
  const bool has_trouble = !troubles.has(Trouble::None) && !troubles.has(Trouble::NotAsked);
  return std::max(verdict_of(set.availability), has_trouble ? Verdict::Notice : Verdict::Good);
}

std::string_view to_string(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::Good:
      return "good";
    case Verdict::Notice:
      return "notice";
    case Verdict::Bad:
      return "bad";
  }
  return "bad";
}

std::string_view state_word(Availability availability) noexcept {
  switch (availability) {
    case Availability::Ready:
      return "Ready";
    case Availability::Missing:
      return "Missing";
    case Availability::Expired:
      return "Expired";
    case Availability::Bypassed:
      return "Bypassed";
    case Availability::Incompatible:
      return "Incompatible";
  }
  return "Unknown";
}

std::string_view trouble_word(Trouble trouble) noexcept {
  switch (trouble) {
    case Trouble::NotAsked:
      return "not asked yet";
    case Trouble::None:
      return "";
    case Trouble::NeverPushed:
      return "never pushed";
    case Trouble::StoreUnreachable:
      return "store unreachable";
    case Trouble::CannotLogIn:
      return "cannot log in";
    case Trouble::Refused:
      return "refused";
    case Trouble::NotCached:
      return "not in the cache";
    case Trouble::AddsInMemory:
      return "adds only in memory";
    case Trouble::CannotPublish:
      return "cannot publish";
    default:
      return to_string(trouble);
  }
}

std::string answer_sentence(const SetFacts& set) {
  switch (set.availability) {
    case Availability::Ready:
      if (!set.published || set.published->generation == 0) return "Answers, published from a file.";
      return fmt::format("Answers from generation {}.", set.published->generation);
    case Availability::Missing:
      return "Nothing is published, so lookups answer maybe.";
    case Availability::Expired:
      return "Its keys are past valid_for, so lookups answer maybe.";
    case Availability::Bypassed: {
      const UnixSeconds until = set.bypasses ? bypassed_until(*set.bypasses) : 0;
      if (until == 0) return "Lookups answer maybe until the bypass is switched off.";
      return fmt::format("Lookups answer maybe until {}.", format_moment(until));
    }
    case Availability::Incompatible:
      return "Published by a version that this one cannot read, so lookups answer maybe.";
  }
  return "";
}

}  // namespace keysieve
