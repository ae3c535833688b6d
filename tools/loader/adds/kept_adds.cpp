#include "tools/loader/adds/kept_adds.hpp"

#include <algorithm>

#include "core/worker/base/error.hpp"
#include "tools/loader/config/private_cache.hpp"
#include "tools/program/durable_file.hpp"

namespace keysieve {

void KeptAdds::load() {
  if (is_loaded_) return;
  try {
    check_private_folder(folder_of(mirror_.path()));
    check_private_file(mirror_.path());
    mirror_.load();
    is_complete_ = true;
  } catch (const Error& error) {
    log_.say_cache_trouble(error.what());
    if (error.kind() != ErrorKind::Data) {
      save_failure_ = error.what();
      return;  // tried again at each look: it may be repaired, or there were too many open files
    }
  }
  is_loaded_ = true;
  save_failure_.clear();
  news_ = LogPosition{};
}

void KeptAdds::take(std::vector<LogEntry> entries) {
  std::erase_if(entries, [this](const LogEntry& entry) {
    const bool is_too_long = entry.key.size() > kMaxLoggedKeyBytes;
    if (is_too_long) log_.say_too_long(entry.key.size());
    return is_too_long;
  });
  const std::optional<LogPosition> before = mirror_.merge(entries);
  if (before) news_ = std::min(news_.value_or(*before), *before);
}

// Without a writable cache the latest adds are lost if shared memory is wiped while the log cannot be read,
// because the store is unreachable or has lost it.
void KeptAdds::save() {
  if (!is_loaded_ || (!save_failure_.empty() && !retries_.is_due())) return;
  try {
    mirror_.save();
    save_failure_.clear();
  } catch (const Error& error) {
    retries_.failed();
    save_failure_ = error.what();
    log_.say_cache_trouble(error.what());
  }
}

std::optional<std::string> KeptAdds::save_now() {
  if (mirror_.unsaved() == 0) return std::nullopt;
  save_failure_.clear();  // not a retry
  load();
  save();
  if (mirror_.unsaved() == 0) return std::nullopt;
  return save_failure_;
}

}  // namespace keysieve
