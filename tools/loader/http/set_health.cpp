#include "tools/loader/http/set_health.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tools/program/units.hpp"

namespace keysieve {

Health health_of(Availability availability) noexcept {
  if (availability == Availability::Ready) return Health::Good;
  return availability == Availability::Bypassed ? Health::Notice : Health::Bad;
}

Health health_of(const SetView& set) noexcept {
  const Trouble trouble = set.report->trouble;
  const bool has_trouble = trouble != Trouble::None && trouble != Trouble::NotAsked;
  return std::max(health_of(set.status.availability), has_trouble ? Health::Notice : Health::Good);
}

std::string_view to_string(Health health) noexcept {
  switch (health) {
    case Health::Good:
      return "good";
    case Health::Notice:
      return "notice";
    case Health::Bad:
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
    case Trouble::StoreAway:
      return "store away";
    case Trouble::CannotLogIn:
      return "cannot log in";
    case Trouble::Refused:
      return "refused";
    case Trouble::AddsInMemory:
      return "adds in memory alone";
    case Trouble::CannotPublish:
      return "cannot publish";
  }
  return "";
}

std::string answer_sentence(const SetView& set) {
  switch (set.status.availability) {
    case Availability::Ready:
      if (!set.status.published || set.status.published->generation == 0)
        return "Answers, published from a file.";
      return fmt::format("Answers from generation {}.", set.status.published->generation);
    case Availability::Missing:
      return "Nothing is published, so lookups answer maybe.";
    case Availability::Expired:
      return "Its keys are older than they may be, so lookups answer maybe.";
    case Availability::Bypassed: {
      const UnixSeconds until = set.status.bypasses ? bypassed_until(*set.status.bypasses) : 0;
      if (until == 0) return "Lookups answer maybe until the bypass is switched off.";
      return fmt::format("Lookups answer maybe until {}.", format_moment(until));
    }
    case Availability::Incompatible:
      return "Published by a version that is not understood here, so lookups answer maybe.";
  }
  return "";
}

}  // namespace keysieve
