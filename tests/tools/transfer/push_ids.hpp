// Push ids that tell each other apart at a glance. Used by the suites of records and of garbage.
#pragma once

#include "tools/transfer/pointer_record.hpp"

namespace keysieve::test {

inline PushId push_id(std::uint8_t number) {
  PushId id{};
  id.fill(number);
  return id;
}

}  // namespace keysieve::test
