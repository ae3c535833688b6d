// keysieve doctor: what status says, and rights, room and stores, all as the user who runs it sees them. It
// changes nothing and never switches users.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>

#include "core/builder/base/file_io.hpp"
#include "core/worker/snapshot/layout.hpp"
#include "tools/cli/field_table.hpp"
#include "tools/cli/verb.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/program/accounts.hpp"
#include "tools/program/memory_left.hpp"
#include "tools/program/printable.hpp"
#include "tools/program/program.hpp"
#include "tools/transfer/shared_seed.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {
namespace {

constexpr std::uint64_t kPublicationsThatFit = 3;  // the current one, the next, and one still being read
constexpr UnixSeconds kOldKeys = 172'800;          // 48 h, as the alert KeysieveKeysOld
constexpr UnixSeconds kClockTolerance = 5;

constexpr std::string_view kOk = "ok";
constexpr std::string_view kWarning = "warning";  // works, but not as well as it could, or not for long
constexpr std::string_view kError = "error";      // lookups come back as maybe, or refreshes do not come

// One line. docs/runbook.md has a section for each code but "ok".
struct Finding {
  std::string_view severity;
  std::string subject;  // "set tags"
  std::string code;     // the name of a Trouble, an ErrorKind or an Availability
  std::string fact;
};

class DoctorVerb {
 public:
  void declare(CLI::App* verb) {
    add_directory(verb, directory_);
    add_text(verb, "--config FILE", config_path_,
             "Also check the sets, the cache and the stores in this configuration of keysieved");
  }

  int run() {
    ok("program", fmt::format("keysieve {}, snapshot format {}, run by {}", kVersion, snapshot_formats_text(),
                              user_name(::geteuid())));
    if (!config_path_.empty()) attempt("configuration", [&] { read_configuration(config_path_); });
    attempt("directory", [&] { look_at_directory(); });
    attempt("seen sets", [&] { look_at_seen_sets(); });
    if (config_) {
      attempt("cache", [&] { look_at_cache(); });
      for (const StoreConfig& store : config_->stores)
        attempt("store " + store.name, [&] { look_at_store("store " + store.name, store); });
    }
    print_findings();
    return worst_ == kError ? 1 : 0;
  }

 private:
  // The fact is made printable, because stores may say anything, and root's terminal shows it.
  void add(std::string_view severity, std::string subject, std::string_view code, std::string_view fact) {
    findings_.push_back({severity, std::move(subject), std::string(code), printable(fact)});
    if (severity == kError || worst_ == kOk) worst_ = severity;
  }
  void ok(std::string subject, std::string_view fact) { add(kOk, std::move(subject), "ok", fact); }
  void warn(std::string subject, auto code, std::string_view fact) {
    add(kWarning, std::move(subject), to_string(code), fact);
  }
  void fail(std::string subject, auto code, std::string_view fact) {
    add(kError, std::move(subject), to_string(code), fact);
  }
  void attempt(const std::string& subject, const auto& work) {
    try {
      work();
    } catch (const Error& error) {
      fail(subject, error.kind(), error.what());
    }
  }

  void read_configuration(const std::string& path) {
    config_ = load_config(path);
    ok("configuration",
       fmt::format("{}: {}, {}", path, format_count_of(config_->sets.size() + config_->seen.size(), "set"),
                   format_count_of(config_->stores.size(), "store")));
    std::error_code failure;
    is_of_directory_ = std::filesystem::path(config_->directory) == directory_ ||
                       std::filesystem::equivalent(config_->directory, directory_, failure);
    if (!is_of_directory_)
      fail("configuration", ErrorKind::Config,
           fmt::format("{}: publishes in {}, looked at is {}", path, config_->directory, directory_));
  }

  void look_at_directory() {
    look_at_way();
    const FileDescriptor opened(::open(directory_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!opened.is_open()) throw_read_error("directory " + directory_, errno);
    const std::string fact = owner_and_mode(directory_);
    is_in_memory(opened, directory_) ? ok("directory", fact + ", a tmpfs")
                                     : warn("directory", Trouble::NotTmpfs, fact + ", on a disk");
    const std::vector<std::string> names = sets_in(directory_);
    std::uint64_t total_bytes = 0;
    for (const std::string& name : names) {
      const std::uint64_t bytes = look_at_set(name);
      largest_bytes_ = std::max(largest_bytes_, bytes);
      total_bytes += bytes;
    }
    look_for_room("room", directory_, kPublicationsThatFit * total_bytes);
    try {
      check_memory_for(largest_bytes_, "the next publication");
      ok("memory", "enough is left for the next publication");
    } catch (const Error& error) {
      fail("memory", Trouble::NoMemory, error.what());
    }
    if (is_of_directory_) return compare("set ", names, config_->sets, Trouble::NotPublished);
    if (names.empty() && seen_sets_in(directory_).empty())
      fail("directory", Trouble::NotPublished, directory_ + ": no set is published here");
  }

  // Starts at the root. Throws MissingInput, Permission for the first folder that this user cannot enter.
  void look_at_way() {
    std::filesystem::path part;
    for (const auto& name : std::filesystem::absolute(directory_)) {
      part /= name;
      struct stat status {};
      if (::stat(part.c_str(), &status) != 0) throw_read_error("directory " + part.native(), errno);
      const std::string fact = owner_and_mode(part);
      if (::access(part.c_str(), X_OK) != 0) throw_read_error(fact, errno);
      if (others_may_write(part, status))
        warn("directory", ErrorKind::NotTrusted,
             fact + ": others may put something else in the place of a set");
    }
  }

  // Returns the size of its snapshot; 0: there is none.
  std::uint64_t look_at_set(const std::string& name) {
    const SetFacts set = set_facts(directory_, name, now_, Reading::Checksums);
    const std::string subject = "set " + name;
    std::string fact = line_of(kSetFields, set, now_);
    if (set.trouble == ErrorKind::Permission || set.trouble == ErrorKind::NotTrusted)
      fact += "; " + owner_and_mode(directory_ + "/" + name);
    judge(subject, set, code_of(set) == to_string(Availability::Bypassed), fact);
    if (!set.published) return 0;
    const LivePublication& live = *set.published;
    generations_[name] = live.generation;
    const UnixSeconds newest = std::max({live.as_of, live.published_at, live.heartbeat});
    if (newest > now_ + kClockTolerance)
      fail(subject, Trouble::Clock,
           fmt::format("it has a time in the future, {}: now is {}", format_moment(newest),
                       format_moment(now_)));
    if (live.valid_until == 0 && now_ - live.as_of > kOldKeys) warn(subject, Trouble::OldKeys, fact);
    return live.bytes;
  }

  // As in status, troubles of a set that answers are warnings, and an intended bypass is one too.
  void judge(const std::string& subject, const auto& set, bool is_bypassed, const std::string& fact) {
    const bool answers = is_bypassed || set.availability == Availability::Ready;
    if (is_bypassed) warn(subject, Availability::Bypassed, fact);
    for (const std::string_view code : set.troubles)
      add(answers && code != to_string(ErrorKind::Data) ? kWarning : kError, subject, code, fact);
    if (!is_bypassed && set.troubles.empty()) ok(subject, fact);
  }

  void compare(const std::string& what, const std::vector<std::string>& here, const auto& configured,
               Trouble missing) {
    for (const auto& set : configured) {
      if (std::ranges::find(here, set.name) == here.end())
        fail(what + set.name, missing, "configured, but not in " + directory_);
    }
    for (const std::string& name : here) {
      if (std::ranges::none_of(configured, [&](const auto& set) { return set.name == name; }))
        warn(what + name, Trouble::NotConfigured, "is here, but not configured");
    }
  }

  // no_room is an error if the next publication does not fit, and a warning if the whole file system has less
  // than `wanted_bytes` (0: never).
  void look_for_room(const std::string& subject, const std::string& folder, std::uint64_t wanted_bytes) {
    std::string fact = owner_and_mode(folder);
    struct statvfs status {};
    if (::statvfs(folder.c_str(), &status) != 0) throw_read_error(folder, errno);
    const std::uint64_t total = status.f_blocks * status.f_frsize;
    const std::uint64_t free = status.f_bavail * status.f_frsize;
    if (total == 0) return ok(subject, fact + ": its file system has no limit");
    fact += fmt::format(": {} free of {}", format_bytes(free), format_bytes(total));
    if (free < largest_bytes_ || (status.f_files != 0 && status.f_favail < 2)) {
      fail(subject, Trouble::NoRoom,
           fmt::format("{}; the next snapshot may need {} and 2 files", fact, format_bytes(largest_bytes_)));
    } else if (total < wanted_bytes) {
      warn(subject, Trouble::NoRoom,
           fmt::format("{}; three publications of every set take {}", fact, format_bytes(wanted_bytes)));
    } else {
      ok(subject, fact);
    }
  }

  void look_at_seen_sets() {
    const std::vector<std::string> names = seen_sets_in(directory_);
    for (const std::string& name : names) {
      const SeenSetFacts set = seen_set_facts(directory_, name, now_);
      judge("seen set " + name, set, set.availability == Availability::Bypassed,
            line_of(kSeenSetFields, set, now_));
    }
    if (is_of_directory_) compare("seen set ", names, config_->seen, Trouble::SeenMissing);
    const bool has_any = !names.empty() || (is_of_directory_ && !config_->seen.empty());
    if (has_any && is_shm_rmid_forced()) warn("seen sets", Trouble::SeenMemoryMayGo, kShmRmidForced);
  }

  void look_at_cache() {
    const std::string fact = owner_and_mode(config_->cache);
    struct stat status {};
    if (::stat(config_->cache.c_str(), &status) != 0 ||
        ::access(config_->cache.c_str(), R_OK | W_OK | X_OK) != 0)
      throw_read_error(fact, errno);
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
      throw Error(ErrorKind::NotTrusted, fact + ": its group or others may write to it");
    look_for_room("cache", config_->cache, 0);
  }

  void look_at_store(const std::string& subject, const StoreConfig& store) {
    if (would_keep_owner_out(store.url))
      return warn(subject, ErrorKind::Permission,
                  store.shown + ": has no lock file yet, and this user is not its owner");
    const auto opened = open_store(store.url, IfMissing::Refuse, Patience::None);
    for (const SetConfig& set : config_->sets) {
      if (set.store == store.name) compare_generation(subject, *opened, set.name);
    }
    for (const std::string& risk : opened->risks(true))
      warn(subject, Trouble::StoreMayLose, store.shown + ": " + risk);
    // Opening may ask nothing. The loader asks for the same before it restores a seen set.
    if (std::ranges::find(config_->seen, store.name, &SeenConfig::store) != config_->seen.end())
      ok(subject, store.shown + (find_shared_seed(*opened) ? ": saves seen sets" : ": no seed yet"));
  }

  void compare_generation(const std::string& subject, Store& store, const std::string& set_name) {
    const auto record = read_stored_pointer(store, set_name);
    if (!record || !record->current)
      return fail(subject, Trouble::NeverPushed,
                  fmt::format("{}: holds no snapshot of {}", store.name(), set_name));
    const std::uint64_t there = record->current->generation;
    const std::string fact = fmt::format("{}: generation {} of {}", store.name(), there, set_name);
    const auto found = generations_.find(set_name);
    if (found == generations_.end() || !is_of_directory_) return ok(subject, fact);
    const std::uint64_t here = found->second;
    if (here == there) return ok(subject, fact + ", as here");
    const std::string facts = fmt::format("{}, {} here", fact, here == 0 ? "a file" : std::to_string(here));
    if (here < there) return warn(subject, Trouble::NotPublished, facts);
    warn(subject, ErrorKind::Older, facts);
  }

  void print_findings() const {
    Json list = Json::array();
    Table table({"severity", "subject", "code", "fact"});
    for (const auto& [severity, subject, code, fact] : findings_) {
      const std::string link = severity == kOk ? "" : "docs/runbook.md#" + code;
      const Json runbook = to_value_if_any(link);
      list.push_back({{"severity", severity},
                      {"subject", subject},
                      {"code", code},
                      {"fact", fact},
                      {"runbook", runbook}});
      table.add(
          {std::string(severity), subject, code, link.empty() ? fact : fmt::format("{} ({})", fact, link)});
    }
    if (!is_said_as_json()) return table.print();
    print_json({{"directory", directory_}, {"severity", worst_}, {"findings", list}});
  }

  std::string directory_;
  std::string config_path_;
  UnixSeconds now_ = unix_now();
  std::optional<LoaderConfig> config_;
  bool is_of_directory_ = false;                      // that configuration
  std::map<std::string, std::uint64_t> generations_;  // of what is published here, by name of the set
  std::uint64_t largest_bytes_ = 0;                   // of these; the next publication may need as much
  std::vector<Finding> findings_;
  std::string_view worst_ = kOk;  // severity of these
};

}  // namespace

extern const Verb kDoctor{
    "doctor", "Check this host as the current user sees it; each problem names its section of the runbook",
    "  sudo -u www-data keysieve doctor\n"
    "  sudo -u keysieve keysieve doctor --config /etc/keysieve/keysieve.toml\n"
    "  keysieve doctor --json | jq '.findings[] | select(.severity != \"ok\")'\n"
    "It sees what its user may see: run it as the PHP workers' user and as the loader's user. "
    "Exit status:\n"
    "0 without errors (there may be warnings), 1 with errors.",
    prepare<DoctorVerb>};

}  // namespace keysieve
