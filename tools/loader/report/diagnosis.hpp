// What keeps the loader from its work with one set, if anything does.
#pragma once

#include <string>

#include "core/publisher/shm/trouble.hpp"

namespace keysieve {

struct Diagnosis {
  Trouble trouble = Trouble::None;
  int exit_status = 0;  // of sysexits, for --once
  std::string reason;   // empty without trouble

  [[nodiscard]] bool is_good() const noexcept { return trouble == Trouble::None; }
};

}  // namespace keysieve
