// What --check-config prints: the configuration as it was understood, defaults filled in, no passwords.
#pragma once

#include <string>

#include "tools/loader/config/config.hpp"

namespace keysieve {

std::string summary_text(const LoaderConfig& config);
std::string summary_json(const LoaderConfig& config);

}  // namespace keysieve
