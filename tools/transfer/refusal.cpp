#include "tools/transfer/refusal.hpp"

namespace keysieve {

std::string_view to_string(Refusal refusal) noexcept {
  switch (refusal) {
    case Refusal::Damaged:
      return "damaged";
    case Refusal::Incompatible:
      return "incompatible";
    case Refusal::Older:
      return "older";
    case Refusal::MaxSize:
      return "max_size";
    case Refusal::MinKeys:
      return "min_keys";
    case Refusal::MaxShrink:
      return "max_shrink";
    case Refusal::MaxFpr:
      return "max_fpr";
    case Refusal::Canaries:
      return "canaries";
  }
  return "unknown";
}

Refusal refusal_of(const Error& error) noexcept {
  if (const auto* refused = dynamic_cast<const RefusedError*>(&error)) return refused->refusal();
  return error.kind() == ErrorKind::Incompatible ? Refusal::Incompatible : Refusal::Damaged;
}

}  // namespace keysieve
