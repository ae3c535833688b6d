// Configurations of keysieved are loaded or refused with an Error; what is loaded is what --check-config
// shows. Input: the TOML file.
#include <fmt/core.h>

#include "core/worker/base/error.hpp"
#include "tests/fuzz/check.hpp"
#include "tools/loader/config/config.hpp"

namespace keysieve {
namespace {

using fuzz::check;

void check_names(const std::string& shown, const std::string& what, const auto& entries) {
  for (const auto& one : entries)
    check(shown.find(fmt::format("\n{} {}: ", what, one.name)) != std::string::npos);
}

void check_summary(const LoaderConfig& config) {
  const std::string shown = summary_text(config);
  check(shown.starts_with(fmt::format("directory {}\ncache {}\n", config.directory, config.cache)));
  check(shown.find("\nlog_level " + config.log_level + "\n") != std::string::npos);
  check_names(shown, "store", config.stores);
  check_names(shown, "set", config.sets);
  check_names(shown, "seen", config.seen);
}

}  // namespace
}  // namespace keysieve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const keysieve::fuzz::MemoryFile file(data, size);
  try {
    keysieve::check_summary(keysieve::load_config(file.path()));
  } catch (const keysieve::Error& error) {
    keysieve::fuzz::check(error.kind() == keysieve::ErrorKind::Config &&
                          std::string_view(error.what()).starts_with(file.path()));
  }
  return 0;
}
