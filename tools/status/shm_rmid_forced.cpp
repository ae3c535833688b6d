#include "tools/status/shm_rmid_forced.hpp"

#include <fstream>

namespace keysieve {

bool is_shm_rmid_forced(const std::string& file) {
  int value = 0;
  return std::ifstream(file) >> value && value != 0;
}

}  // namespace keysieve
