#include "tools/loader/config/config.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <list>
#include <map>
#include <system_error>

#include "core/builder/base/file_io.hpp"
#include "core/builder/base/folder_names.hpp"
#include "core/worker/base/mapped_region.hpp"
#include "core/worker/base/set_name.hpp"
#include "core/worker/seen/seen_page.hpp"
#include "tools/keys/key_file.hpp"
#include "tools/loader/config/config_table.hpp"
#include "tools/loader/config/listening_socket.hpp"
#include "tools/program/accounts.hpp"
#include "tools/program/units.hpp"
#include "tools/stores/store_url.hpp"

namespace keysieve {
namespace {

std::string absolute_path(const std::string& text) {
  if (text.starts_with('/')) return text;
  throw Error(ErrorKind::Usage, fmt::format("\"{}\" must be an absolute path", text));
}

const auto kPollInterval =
    in_range(parse_duration, std::chrono::milliseconds(10), std::chrono::hours(24), "10ms to 1d");
// Nothing that can be published is smaller.
const auto kSizeLimit =
    in_range(parse_bytes, 4096, std::numeric_limits<std::uint64_t>::max(), "at least 4KiB");
const auto kFprLimit = in_range(parse_share, kAboveZero, 1, "above 0, at most 1");

std::vector<std::string> required_keys(const std::string& path) {
  std::vector<std::string> keys;
  read_keys(absolute_path(path), {}, [&keys](std::string_view key) { keys.emplace_back(key); });
  if (keys.empty()) throw Error(ErrorKind::Data, path + ": holds no key");
  return keys;
}

std::string name_of_one_set(const std::string& text) {
  if (text.find('*') == std::string::npos) return checked_set_name(text);
  throw Error(
      ErrorKind::Usage,
      fmt::format("set name \"{}\" is not valid: a [[set]] is one set; for many tenants, build one set "
                  "of keys such as tenant/key (docs/operate.md, \"Many tenants\")",
                  text));
}

// The URL without its password. A URL that is not understood is not shown, because it may hold one.
std::string shown_url(const std::string& url) {
  if (!is_store_url(url))
    throw Error(ErrorKind::Usage, "not a store's URL; one begins with " + store_schemes());
  check_store_url(url);
  return parse_store_url(url).name;
}

class ConfigReader {
 public:
  LoaderConfig read(const std::vector<std::string>& files);

 private:
  // Remembers which file made a setting. The same setting in two files would silently win or lose.
  void claim(const ConfigTable& table, std::string_view key, const std::string& thing) {
    const auto [place, is_new] = places_.try_emplace(thing, table.place_of(key));
    if (!is_new) table.fail(key, fmt::format("{} is configured already, at {}", thing, place->second));
  }
  template <typename Value, typename Parse>
  void take_setting(ConfigTable& top, std::string_view key, Value& target, const Parse& parse) {
    auto value = top.parsed(key, parse);
    if (!value) return;
    claim(top, key, std::string(key));
    target = *value;
  }
  void read_settings(ConfigTable& top);
  void read_status(ConfigTable& top);
  void read_stores(ConfigTable& top);
  void read_set(ConfigTable& table);
  void read_seen_set(ConfigTable& table);
  // A parser of the name of a store that can be used so.
  [[nodiscard]] auto store_for(StoreUse use) const;

  LoaderConfig config_;
  std::optional<std::chrono::milliseconds> poll_interval_;
  std::map<std::string, std::string> places_;
};

toml::table parse_toml(const std::string& path) {
  try {
    const MappedRegion file = map_file(path);
    return toml::parse(as_text(bytes_of(file)), path);
  } catch (const toml::parse_error& error) {
    throw Error(ErrorKind::Config,
                fmt::format("{}:{}: {}", path, error.source().begin.line, error.description()));
  } catch (const Error& error) {
    throw Error(ErrorKind::Config, error.what());
  }
}

// A set may stand in another file than its store.
LoaderConfig ConfigReader::read(const std::vector<std::string>& files) {
  std::list<toml::table> documents;
  std::vector<ConfigTable> tops;
  for (const std::string& file : files) {
    ConfigTable& top = tops.emplace_back(documents.emplace_back(parse_toml(file)), file);
    read_settings(top);
    read_status(top);
    read_stores(top);
  }
  for (ConfigTable& top : tops) {
    for (ConfigTable& set : top.tables("set")) read_set(set);
    for (ConfigTable& seen : top.tables("seen")) read_seen_set(seen);
    top.reject_unknown_keys();
  }
  config_.poll_interval = poll_interval_.value_or(config_.poll_interval);
  for (StoreConfig& store : config_.stores)
    store.poll_interval = poll_interval_.value_or(default_poll_interval(store.url));
  if (config_.sets.empty() && config_.seen.empty())
    throw Error(ErrorKind::Config, files.front() +
                                       ": there is no [[set]] and no [[seen]] in it or in "
                                       "conf.d/*.toml next to it");
  return std::move(config_);
}

auto ConfigReader::store_for(StoreUse use) const {
  return [this, use](const std::string& name) {
    const auto store = std::ranges::find(config_.stores, name, &StoreConfig::name);
    if (store == config_.stores.end())
      throw Error(ErrorKind::Usage, fmt::format("there is no [store.{}]", name));
    check_store_can(use, store->url);
    return name;
  };
}

void ConfigReader::read_settings(ConfigTable& top) {
  take_setting(top, "directory", config_.directory, absolute_path);
  take_setting(top, "cache", config_.cache, absolute_path);
  take_setting(top, "group", config_.group, group_named);
  take_setting(top, "poll_interval", poll_interval_, kPollInterval);
  take_setting(top, "max_total_size", config_.max_total_bytes, kSizeLimit);
  take_setting(top, "log_level", config_.log_level, checked_log_level);
}

void ConfigReader::read_status(ConfigTable& top) {
  std::optional<ConfigTable> table = top.table("status");
  if (!table) return;
  claim(top, "status", "[status]");
  config_.status =
      StatusConfig{table->required("listen", checked_listen_address), table->parsed("group", group_named)};
  table->reject_unknown_keys();
}

void ConfigReader::read_stores(ConfigTable& top) {
  std::optional<ConfigTable> list = top.table("store");
  if (!list) return;
  for (const std::string& name : list->names()) {
    ConfigTable table = *list->table(name);
    claim(*list, name, "store \"" + name + "\"");
    const std::string shown = table.required("url", shown_url);
    table.reject_unknown_keys();
    config_.stores.push_back({name, *table.text("url"), shown});
  }
}

void ConfigReader::read_set(ConfigTable& table) {
  SetConfig set;
  set.name = table.required("name", name_of_one_set);
  claim(table, "name", "set \"" + set.name + "\"");
  set.store = table.required("store", store_for(StoreUse::Read));
  set.max_bytes = table.parsed("max_size", kSizeLimit).value_or(0);
  set.public_keys = table.parsed_list("public_key", parse_public_key);
  set.guards.source = GuardSource::Configuration;
  set.guards.max_fpr = table.parsed("max_fpr", kFprLimit);
  if (const auto share = table.parsed("max_shrink", parse_share)) set.guards.max_shrink = share;
  if (const auto share = table.parsed("max_changed", parse_share)) set.guards.max_changed = *share;
  set.guards.min_keys = table.parsed("min_keys", parse_key_count).value_or(set.guards.min_keys);
  if (auto keys = table.parsed("required_keys", required_keys)) set.guards.required_keys = std::move(*keys);
  table.reject_unknown_keys();
  config_.sets.push_back(std::move(set));
}

void ConfigReader::read_seen_set(ConfigTable& table) {
  SeenConfig seen = read_seen(table);
  claim(table, "name", "seen set \"" + seen.name + "\"");
  table.parsed("store", store_for(StoreUse::Keep));
  config_.seen.push_back(std::move(seen));
}

// The file, and conf.d/*.toml next to it, by name.
std::vector<std::string> files_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path() / "conf.d";
  std::vector<std::string> files{path};
  std::error_code error;
  for (const std::filesystem::path name : names_in(folder.string(), error)) {
    if (name.extension() == ".toml") files.push_back((folder / name).string());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw Error(ErrorKind::Config, fmt::format("{}: {}", folder.string(), error.message()));
  }
  std::sort(files.begin() + 1, files.end());
  return files;
}

}  // namespace

LoaderConfig load_config(const std::string& path) {
  return ConfigReader().read(files_of(path));
}

void check_loader_user(const LoaderConfig& config) {
  if (::geteuid() != 0) return;
  std::vector<std::string> paths{config.directory, config.cache};
  for (const SetConfig& set : config.sets) paths.push_back(config.directory + "/" + set.name);
  for (const SeenConfig& seen : config.seen)
    paths.push_back(seen_directory(config.directory) + "/" + seen.name);
  for (const std::string& path : paths) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || status.st_uid == 0) continue;
    const std::string user = user_name(status.st_uid);
    const bool has_name = user != std::to_string(status.st_uid);
    throw Error(
        ErrorKind::Permission,
        fmt::format("{} belongs to {}, and this is root: start the service (systemctl start keysieved), or "
                    "run it as that user (sudo -u {} keysieved)",
                    path, user, has_name ? user : "'#" + user + "'"));
  }
}

std::string checked_log_level(const std::string& name) {
  constexpr std::array kLevels{"debug", "info", "warning", "error"};
  if (std::find(kLevels.begin(), kLevels.end(), name) != kLevels.end()) return name;
  throw Error(ErrorKind::Usage,
              fmt::format("\"{}\" is not a log level: debug, info, warning or error", name));
}

}  // namespace keysieve
