#include "tools/loader/report/refresh_outcome.hpp"

#include <fmt/core.h>

#include "core/builder/base/log_positions.hpp"
#include "tools/program/program.hpp"
#include "tools/program/units.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/guards.hpp"

namespace keysieve {

RefreshOutcome in_trouble(Trouble trouble, ErrorKind cause, std::string reason) {
  RefreshOutcome outcome;
  outcome.trouble = trouble;
  outcome.exit_status = exit_status_of(cause);
  outcome.reason = std::move(reason);
  outcome.cause = cause;
  return outcome;
}

RefreshOutcome cannot_ask(const Error& error) {
  if (is_refusal(error)) return refused(error);
  if (error.kind() == ErrorKind::Login)
    return in_trouble(Trouble::CannotLogIn, error.kind(), fmt::format("cannot log in to {}", error.what()));
  return in_trouble(Trouble::StoreUnreachable, error.kind(),
                    fmt::format("the store is unreachable: {}", error.what()));
}

RefreshOutcome refused(const Error& error) {
  return in_trouble(Trouble::Refused, error.kind(), error.what());
}

RefreshOutcome refused(const SnapshotRecord& build, const Error& error) {
  RefreshOutcome outcome =
      in_trouble(Trouble::Refused, error.kind(),
                 fmt::format("generation {} refused: {}", build.generation, error.what()));
  outcome.refused = build.build_id;
  return outcome;
}

RefreshOutcome cannot_publish(const std::exception& error) {
  const auto* const known = dynamic_cast<const Error*>(&error);
  RefreshOutcome outcome =
      in_trouble(Trouble::CannotPublish, known != nullptr ? known->kind() : ErrorKind::CannotCreate,
                 fmt::format("cannot publish: {}", text_of(error)));
  if (known == nullptr) outcome.exit_status = exit_status_of(error);
  return outcome;
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

}  // namespace keysieve
