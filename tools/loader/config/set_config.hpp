// [[set]] in the configuration.
#pragma once

#include <cstdint>
#include <string>

#include "tools/signatures/public_keys.hpp"
#include "tools/transfer/guards.hpp"

namespace keysieve {

struct SetConfig {
  std::string name;
  std::string store;            // name of one of LoaderConfig::stores
  std::uint64_t max_bytes = 0;  // of a snapshot; 0: no limit
  PublicKeys public_keys;
  Guards guards;
};

}  // namespace keysieve
