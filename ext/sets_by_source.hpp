// All sets that this thread has asked: one table per source. Part of the module's globals. One worker of
// php-fpm may serve several sites, each with its own keysieve.directory and keysieve.owner.
#pragma once

#include <sys/types.h>

#include <map>

#include "ext/attached_sets.hpp"

namespace keysieve {

class SetsBySource {
 public:
  // The table of the settings as they are now, for the beginning of a request: no Set object exists then.
  // Tables stay where they are until this process forks.
  AttachedSets& of_current_settings() noexcept;

 private:
  pid_t process_ = 0;  // that asked these sets
  std::map<SetSource, AttachedSets> tables_;
};

}  // namespace keysieve
