// Lines for the operator: straight to PHP's error log, or the SAPI's where none is set. Not PHP warnings,
// which frameworks turn into exceptions.
#pragma once

#include <string>

namespace keysieve {

void write_error_log(const std::string& line);

}  // namespace keysieve
