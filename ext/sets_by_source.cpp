#include "ext/sets_by_source.hpp"

#include <unistd.h>

namespace keysieve {

// A preload script may ask sets in the master of php-fpm. The workers forget them: each opens the sets by its
// own rights and from its own root directory, logs what is wrong with them, and counts its own calls.
AttachedSets& SetsBySource::of_current_settings() noexcept {
  if (const pid_t process = ::getpid(); process != process_) {
    tables_.clear();
    process_ = process;
  }
  const SetSource source = current_source();
  return tables_.try_emplace(source, source).first->second;
}

}  // namespace keysieve
