// Configurations of keysieved are loaded or refused with an Error; what is loaded is what --check-config
// shows. Input: the TOML file.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "core/worker/base/error.hpp"
#include "tests/fuzz/check.hpp"
#include "tools/loader/config/config.hpp"

namespace keysieve {
namespace {

using fuzz::check;

template <typename Entry>
void check_names(const nlohmann::json& shown, const std::vector<Entry>& entries) {
  check(std::ranges::equal(shown, entries, [](const nlohmann::json& one, const Entry& entry) {
    return one.at("name") == entry.name;
  }));
}

void check_summary(const LoaderConfig& config) {
  const nlohmann::json shown = nlohmann::json::parse(summary_json(config));
  check(shown.at("directory") == config.directory && shown.at("cache") == config.cache &&
        shown.at("log_level") == config.log_level &&
        shown.at("poll_interval_ms") == config.poll_interval.count());
  check_names(shown.at("stores"), config.stores);
  check_names(shown.at("sets"), config.sets);
  check_names(shown.at("seen_sets"), config.seen);
  const std::string text = summary_text(config);
  for (const SetConfig& set : config.sets) check(text.find("\nset " + set.name + ": ") != std::string::npos);
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
