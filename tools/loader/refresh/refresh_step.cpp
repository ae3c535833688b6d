#include "tools/loader/refresh/refresh_step.hpp"

#include <fmt/core.h>

namespace keysieve {

RefreshOutcome outcome_of(const Error& error, const At& at, bool is_live) {
  switch (at.step) {
    case Step::OpenSet:
    case Step::PublishCached:
      // The directory may have been wiped in the middle.
      if (is_live && error.kind() == ErrorKind::MissingInput) return gone_again();
      break;
    case Step::AskStore:
    case Step::ReadAdds:
      return is_refusal(error) ? refused(error) : cannot_ask_store(error);
    case Step::ReadPointer:
      if (error.kind() != ErrorKind::MissingInput) return refused(error);
      return in_trouble(Trouble::NeverPushed, error.kind(), error.what());
    case Step::Fetch:
      if (!is_refusal(error)) return cannot_ask_store(error);
      return refused(at.build, error);
    case Step::Compare:
    case Step::Check:
      return refused(at.build, error);
    case Step::ReadBypass:
      return in_trouble(
          Trouble::Refused, ErrorKind::Data,
          fmt::format("bypassed, because the record of the bypass cannot be read: {}", error.what()));
    case Step::Publish:
    case Step::FillLayer:
      break;
  }
  return cannot_publish(error);
}

RefreshOutcome gone_again() {
  return in_trouble(Trouble::CannotPublish, ErrorKind::CannotCreate,
                    "cannot publish: the new publication is gone, or cannot be attached");
}

}  // namespace keysieve
