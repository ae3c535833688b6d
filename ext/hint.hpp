// Adds to a reason which set may have been meant. For AttachedSet and AttachedSeen.
#pragma once

#include <string>
#include <string_view>

#include "core/worker/seen/unknown_name.hpp"
#include "ext/php_keysieve.h"

namespace keysieve {

// The directory is that of this request, whose sets are asked.
inline std::string with_hint(std::string_view reason, bool was_never_found, std::string_view set_name,
                             SetType type) {
  const std::string hint =
      was_never_found && !reason.empty()
          ? about_unknown_name(std::string(view_of(KEYSIEVE_G(directory))), std::string(set_name), type)
          : "";
  return std::string(reason) + (hint.empty() ? "" : "; " + hint);
}

}  // namespace keysieve
