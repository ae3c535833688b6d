#include "tools/loader/report/refresh_outcome.hpp"

#include <fmt/core.h>

#include "core/builder/base/log_positions.hpp"
#include "tools/program/program.hpp"
#include "tools/program/units.hpp"
#include "tools/transfer/adds_log.hpp"

namespace keysieve {
namespace {

RefreshOutcome refused(const Error& error) {
  return in_trouble(Trouble::Refused, error.kind(), error.what());
}

RefreshOutcome refused(const SnapshotRecord& record, const Error& error) {
  RefreshOutcome outcome =
      in_trouble(Trouble::Refused, error.kind(),
                 fmt::format("generation {} refused: {}", record.generation, error.what()));
  outcome.refused = record.build_id;
  return outcome;
}

RefreshOutcome cannot_ask_store(const Error& error) {
  if (error.kind() == ErrorKind::Login) {
    return in_trouble(Trouble::CannotLogIn, error.kind(), fmt::format("cannot log in to {}", error.what()));
  }
  return in_trouble(Trouble::StoreUnreachable, error.kind(),
                    fmt::format("the store is unreachable: {}", error.what()));
}

}  // namespace

RefreshOutcome in_trouble(Trouble trouble, ErrorKind kind, std::string reason) {
  return {{.trouble = trouble, .exit_status = exit_status_of(kind), .reason = std::move(reason)}};
}

RefreshOutcome adds_lost(const LogPosition& lost_to, bool is_behind) {
  const std::string until = format_moment(builds_help_after(lost_to));
  if (is_behind) {
    return in_trouble(
        Trouble::AddsLost, ErrorKind::Data,
        fmt::format("the store's log of added keys is gone, or lacks keys that it had: lookups answer maybe. "
                    "Unless it is a copy that is late, build again after {}, then push",
                    until));
  }
  const auto moment = static_cast<UnixSeconds>(milliseconds_of(lost_to) / 1000);
  return in_trouble(Trouble::AddsLost, ErrorKind::Data,
                    fmt::format("the store has lost keys that were added up to {}: lookups answer maybe. "
                                "Build again after {}, then push",
                                format_moment(moment), until));
}

RefreshOutcome adds_in_memory(std::size_t adds, const std::string& failure) {
  return in_trouble(Trouble::AddsInMemory, ErrorKind::CannotCreate,
                    fmt::format("a restart would lose {}, which cannot be saved: {}",
                                format_count_of(adds, "add"), failure));
}

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
    case Step::Publish:
    case Step::FillLayer:
      break;
  }
  return in_trouble(Trouble::CannotPublish, error.kind(), fmt::format("cannot publish: {}", error.what()));
}

RefreshOutcome gone_again() {
  return in_trouble(Trouble::CannotPublish, ErrorKind::CannotCreate,
                    "cannot publish: the new publication is gone, or cannot be attached: perhaps no file "
                    "descriptor is left (ulimit -n)");
}

}  // namespace keysieve
