#include "tools/cli/print_json.hpp"

#include <fmt/core.h>

namespace keysieve {

// Names and keys are bytes; what is not UTF-8 in them is shown as U+FFFD.
void print_json(const Json& value) {
  fmt::print("{}\n", value.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace keysieve
