#include "tools/loader/set_state.hpp"

#include <fmt/format.h>

#include "tools/program/program.hpp"

namespace keysieve {

SetState in_trouble(Trouble trouble, ErrorKind kind, std::string reason) {
  return {.live = {},
          .trouble = trouble,
          .exit_status = exit_status_of(kind),
          .reason = std::move(reason),
          .refused = {}};
}

SetState not_asked() {
  return in_trouble(Trouble::NotAsked, ErrorKind::Unavailable, "the store was not asked yet");
}

SetState store_away(const Error& error) {
  return in_trouble(Trouble::StoreAway, error.kind(), fmt::format("the store is away: {}", error.what()));
}

SetState refused(const SnapshotRecord& record, const Error& error) {
  SetState state = in_trouble(Trouble::Refused, error.kind(),
                              fmt::format("generation {} refused: {}", record.generation, error.what()));
  state.refused = record.build_id;
  return state;
}

SetState cannot_publish(const Error& error) {
  return in_trouble(Trouble::CannotPublish, error.kind(), fmt::format("cannot publish: {}", error.what()));
}

}  // namespace keysieve
