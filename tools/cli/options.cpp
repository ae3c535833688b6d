#include "tools/cli/options.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/worker/base/error.hpp"
#include "core/worker/shm/set_folder.hpp"
#include "tools/cli/report.hpp"
#include "tools/program/units.hpp"

namespace keysieve {

std::unique_ptr<Store> open_given_store(const std::string& given, StoreUse use, IfMissing if_missing) {
  const std::string url = absolute_store_url(given);
  check_store_can(use, url);
  return open_store(url, if_missing);
}

CLI::Option* add_text(CLI::App* verb, const std::string& option,
                      const std::function<void(const std::string& text)>& take, const std::string& help) {
  const std::size_t end = option.find(' ');
  const std::string name = option.substr(0, end);
  const auto take_or_name = [take, name](const std::string& text) {
    try {
      take(text);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Usage) throw;
      throw Error(ErrorKind::Usage, name + ": " + error.what());
    }
  };
  CLI::Option* added = verb->add_option_function<std::string>(name, take_or_name, help);
  return end == std::string::npos ? added : added->type_name(option.substr(end + 1));
}

CLI::Option* add_text(CLI::App* verb, const std::string& option, std::string& text, const std::string& help) {
  return add_text(
      verb, option, [&text](const std::string& given) { text = given; }, help);
}

std::uint32_t parse_shard_bytes(const std::string& text) {
  const std::uint64_t bytes = parse_bytes(text);
  if (!is_shard_bytes(bytes))
    throw Error(ErrorKind::Usage, "shard size " + text + " is out of range: 1KiB, 2KiB, 4KiB or 8KiB");
  return static_cast<std::uint32_t>(bytes);
}

void add_argument_and_url(CLI::App* verb, const std::string& name, std::string& argument,
                          const std::string& help, std::string& url) {
  verb->add_option(name, argument, help)->required();
  verb->add_option("URL", url, store_help())->required();
}

void add_fpr_and_growth(CLI::App* verb, double& target_fpr, double& growth) {
  add_parsed(verb, "--fpr FPR", target_fpr, parse_share,
             "Target FPR: 1e-9 to 0.5, or in %; below 1e-6 not every kind [0.01]");
  verb->add_option("--growth", growth, "Room for that many times the keys: 1 to 100")
      ->type_name("FACTOR")
      ->capture_default_str();
}

// Not as many as there are: the library would take "[a,b]" for two keys. TakeAll is content with fewer.
CLI::Option* add_keys(CLI::App* verb, std::vector<std::string>& keys, const std::string& help,
                      const std::string& rest) {
  return verb->add_option("KEY", keys, help)
      ->expected(CLI::detail::expected_max_vector_size, CLI::detail::expected_max_vector_size)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->option_text(rest);
}

void add_directory(CLI::App* verb, std::string& directory) {
  directory = kDefaultDirectory;
  verb->add_option("--directory", directory, "Shared memory of all sets")
      ->envname("KEYSIEVE_DIRECTORY")
      ->type_name("DIR")
      ->capture_default_str();
}

void add_key_format(CLI::App* verb, KeyFileFormat& format) {
  verb->add_flag("-0,--null", format.nul_separated,
                 "Keys end with NUL instead of a line end, and may hold any byte but NUL");
  verb->add_flag("--allow-cr", format.allow_cr, "Strip a CR at line ends, which is an error otherwise");
}

void add_allow_suspect_keys(CLI::App* verb, bool& allow) {
  verb->add_flag("--allow-suspect-keys", allow,
                 "Accept a list whose lines look like anything but keys: quoted, padded, a table, CSV, JSON, "
                 "HTML, not UTF-8, or a program's error message");
}

void check_suspect_keys(const std::string& key_path, const KeysRead& read, bool allow) {
  if (allow) return;
  const std::string option = " (--allow-suspect-keys if that is intended)";
  for (const Suspicion& suspicion : read.suspicions) {
    const std::string text = key_source(key_path) + ": " + suspicion.sentence + option;
    if (suspicion.is_grave) throw Error(ErrorKind::Data, text);
    print_warning(text);
  }
}

void add_as_of(CLI::App* verb, std::optional<UnixSeconds>& as_of, const std::string& help) {
  const auto parse = [](const std::string& text) {
    const UnixSeconds moment = parse_moment(text);
    const UnixSeconds now = unix_now();
    if (moment <= now) return moment;
    throw Error(ErrorKind::Usage,
                fmt::format("\"{}\" is in the future: now is {}, @{}", text, format_moment(now), now));
  };
  add_parsed(verb, "--as-of MOMENT", as_of, parse, help);
}

void add_public_keys(CLI::App* verb, PublicKeys& keys) {
  const auto take = [&keys](const std::string& text) { keys.push_back(parse_public_key(text)); };
  add_text(verb, "--public-key KEY", take,
           "Refuse a snapshot that is not signed by this key, or by one of these; 64 digits, as keysieve "
           "keygen prints them")
      ->trigger_on_parse();
}

void add_sign_key(CLI::App* verb, std::shared_ptr<const SigningKey>& key) {
  const auto load = [](const std::string& path) {
    return std::make_shared<const SigningKey>(SigningKey::load(path));
  };
  add_parsed(verb, "--sign-key FILE", key, load,
             "Sign the snapshot with the secret key in this file, which keysieve keygen has made");
}

void add_key_list(CLI::App* verb, const std::string& option, const std::string& help, KeyList& keys) {
  const auto parse = [](const std::string& text) {
    const std::uint64_t column = parse_count(text);
    if (column >= 2 && column <= 1'000) return static_cast<unsigned>(column);
    throw Error(ErrorKind::Usage,
                fmt::format("{} is out of range: 2 to 1000; the key is in the first", column));
  };
  keys.option = option.substr(0, option.find(' '));
  add_text(verb, option, keys.key_path, help);
  verb->option_defaults()->group("Maps, in which each key has a value (kind ribbon)");
  auto* values = add_text(verb, "--values FILE", keys.values_path,
                          "Instead of " + keys.option +
                              ": a key, a TAB and its value per line, a number from 0 to 4294967295; - reads "
                              "standard input. Any other key has a value too, with the probability of --fpr");
  add_parsed(verb, "--value-column N", keys.value_column, parse,
             "Column of the value, where the columns are separated by TABs [2]")
      ->needs(values);
  verb->option_defaults()->group("Options");
  add_key_format(verb, keys.format);
}

void check_lists(const KeyList& keys, std::vector<std::string> others) {
  if (keys.key_path.empty() && !keys.is_map())
    throw Error(ErrorKind::Usage, "which keys? Give " + keys.option + ", or for a map --values");
  if (!keys.key_path.empty() && keys.is_map())
    throw Error(ErrorKind::Usage, keys.option + ": --values has the keys of a map");
  others.push_back(keys.path());
  if (std::ranges::count(others, "-") > 1)
    throw Error(ErrorKind::Usage, "standard input can be one of the lists, not several");
}

Guards GuardOptions::guards(const KeyFileFormat& format) const {
  Guards guards = limits;
  if (!required_keys_path.empty()) {
    read_keys(required_keys_path, format,
              [&guards](std::string_view key) { guards.required_keys.emplace_back(key); });
  }
  return guards;
}

void add_guards(CLI::App* verb, GuardOptions& options) {
  Guards& limits = options.limits;
  verb->option_defaults()->group("Guards");
  add_parsed(verb, "--min-keys N", limits.min_keys, parse_key_count,
             "Refuse a set of fewer keys: 50000, 50k or 2M; 0 allows an empty set [1]");
  add_parsed(verb, "--max-shrink SHARE", limits.max_shrink, parse_share,
             "Refuse a set that has lost more than this share of the previous generation's keys [20%]");
  add_parsed(verb, "--max-changed SHARE", limits.max_changed, parse_share,
             "Refuse a map in which more than this share of a sample of keys has another value than in the "
             "previous generation; 100% lifts it [50%]");
  // After --max-shrink, for their callbacks come in this order.
  verb->add_flag_callback(
      "--allow-shrink", [&limits] { limits.max_shrink.reset(); }, "Lift --max-shrink");
  add_parsed(verb, "--max-fpr FPR", limits.max_fpr, parse_share,
             "Refuse a set whose estimated FPR is higher");
  add_text(verb, "--required-keys FILE", options.required_keys_path, "File of keys that must answer maybe");
  verb->option_defaults()->group("Options");
}

}  // namespace keysieve
