#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/error.hpp"
#include "tools/doctor/checks.hpp"
#include "tools/doctor/control_group.hpp"
#include "tools/doctor/foreign_folder.hpp"
#include "tools/doctor/publisher.hpp"
#include "tools/loader/private_cache.hpp"
#include "tools/program/units.hpp"
#include "tools/stores/store.hpp"
#include "tools/transfer/pointer_record.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {
namespace {

std::optional<User> loader_that_can_be(const Situation& situation, Findings& findings,
                                       const std::string& subject) {
  if (!situation.config) return std::nullopt;
  auto user = loader_of(situation);
  if (!user) {
    findings.warn(subject, "not looked at: nobody can tell whom the loader is",
                  "start keysieved, and ask again where it is seen to run");
    return std::nullopt;
  }
  if (can_be(*user)) return user;
  findings.warn(subject, "not looked at: only root can do it as " + user_name(user->uid), "ask as root");
  return std::nullopt;
}

// That is published; nothing without the directory.
std::optional<std::uint64_t> generation_here(const Situation& situation, const std::string& set_name) {
  if (!situation.has_directory) return std::nullopt;
  const auto seen = std::find_if(situation.sets.begin(), situation.sets.end(),
                                 [&](const SetStatus& set) { return set.name == set_name; });
  return seen->published ? seen->published->generation : 0;
}

void check_set_in(Store& store, const std::string& set_name, const Situation& situation,
                  const std::string& subject, Findings& findings) {
  const std::string key = pointer_key(store, set_name);
  const auto text = store.get(key);
  const auto record = text ? decode_pointer_record(*text, store.name() + ": " + key) : PointerRecord{};
  if (!record.current) {
    return findings.fail(
        subject, fmt::format("{}: holds no snapshot of {}", store.name(), set_name),
        fmt::format("as the user that builds: keysieve build … -o {0}.ks; keysieve push {0}.ks URL",
                    set_name));
  }
  const std::uint64_t there = record.current->generation;
  const auto here = generation_here(situation, set_name);
  const std::string seen = fmt::format("{}: {} has generation {}", store.name(), set_name, there);
  if (!here) return findings.ok(subject, seen);
  if (*here == there) return findings.ok(subject, seen + ", as here");
  findings.warn(subject, fmt::format("{} there, {} here", seen, *here),
                "journalctl -u keysieved: it is refused, or comes with the next look");
}

void check_store(const StoreConfig& store, const Situation& situation, Findings& findings) {
  const auto opened = open_store(store.url, IfMissing::Refuse, Patience::None);
  for (const SetConfig& set : situation.config->sets) {
    if (set.store == store.name) check_set_in(*opened, set.name, situation, "store " + store.name, findings);
  }
}

std::string remedy_of(const Error& error, const StoreConfig& store, const std::string& config_path) {
  switch (error.kind()) {
    case ErrorKind::Unavailable:
      return "start the store, or mend the network; what is published stays live meanwhile";
    case ErrorKind::Permission:
      return store.url.starts_with("redis") ? "give the user a loader's rights (ACL) in the store"
                                            : "give the loader's user the right to read it";
    case ErrorKind::Login:
      return "the password of the unit's environment is not known here: KEYSIEVE_REDIS_PASSWORD=… keysieve "
             "doctor, or ?password_file= in url";
    case ErrorKind::Data:
      return "what the store holds is broken: build it and push it anew";
    default:
      return "mend url in " + config_path;
  }
}

}  // namespace

void check_configuration(const Situation& situation, Findings& findings) {
  if (!situation.config) return;
  const std::string& path = *situation.question.config_path;
  if (!situation.loader_publishes_here()) {
    return findings.fail(
        "configuration",
        fmt::format("{}: keysieved publishes in {}, this looks at {}", path, situation.config->directory,
                    situation.question.directory),
        fmt::format("keysieve doctor --directory {}; keysieve.directory in PHP must be the same",
                    situation.config->directory));
  }
  findings.ok("configuration", fmt::format("{}: {} sets, {} stores", path, situation.config->sets.size(),
                                           situation.config->stores.size()));
}

void check_loader_process(const Situation& situation, Findings& findings) {
  if (!situation.config) return;
  const std::string& path = *situation.question.config_path;
  if (situation.loaders.empty()) {
    findings.warn("loader", "no keysieved is seen to run with " + path,
                  "systemctl start keysieved, unless cron runs it with --once; only root sees all that run");
  }
  for (const LoaderProcess& loader : situation.loaders) {
    if (!is_program_replaced(loader)) {
      findings.ok("loader", fmt::format("{} runs with {}", loader.path, path));
      continue;
    }
    findings.warn("loader", loader.path + " still runs a keysieved that has been replaced since",
                  "systemctl restart keysieved");
  }
}

void check_set_folders(const Situation& situation, Findings& findings) {
  if (situation.loaders.empty() || !situation.loader_publishes_here()) return;
  const uid_t loader = situation.loaders.front().user.uid;
  for (const SetConfig& set : situation.config->sets) {
    const std::string folder = situation.question.directory + "/" + set.name;
    const auto owner = owner_of_set(situation, set.name);
    if (!owner || *owner == loader) continue;
    findings.fail("folder of " + set.name,
                  fmt::format("{} belongs to {}, keysieved runs as {} and cannot publish in it", folder,
                              user_name(*owner), user_name(loader)),
                  remedy_of_foreign_folder(situation, set.name));
  }
}

// What is full of a tmpfs counts for the control group of who wrote it: the loader. PHP's container may have
// any limit.
void check_memory_limit(const Situation& situation, Findings& findings) {
  if (situation.question.worker && !situation.question.config_path) return;
  std::vector<std::string> processes;
  for (const LoaderProcess& loader : situation.loaders) processes.push_back(loader.path);
  if (processes.empty()) processes = {"/proc/self"};  // in the loader's container it has the same limit
  for (const std::string& process : processes) {
    const auto limit = memory_limit_of(process);
    if (!limit || *limit >= situation.wanted_bytes()) continue;
    findings.warn("memory limit",
                  fmt::format("the control group of {} may use {}, three publications of every set take {}",
                              process, format_bytes(*limit), format_bytes(situation.wanted_bytes())),
                  "raise MemoryMax= of the unit, or the container's limit");
  }
}

void check_cache(const Situation& situation, Findings& findings) {
  const auto user = loader_that_can_be(situation, findings, "cache");
  if (!user) return;
  const std::string& cache = situation.config->cache;
  find_as(*user, findings, "cache", [&](Findings& found) {
    const std::string owner = user_name(user->uid);
    const std::string remedy =
        fmt::format("install -d -o {} -m 0750 {}; chown -R {} {}", owner, cache, owner, cache);
    try {
      check_private_folder(cache);
    } catch (const Error& error) {
      return found.fail("cache", error.what(), remedy);
    }
    if (::access(cache.c_str(), R_OK | W_OK | X_OK) == 0) {
      return found.ok("cache", fmt::format("{}: {} can write to it", cache, owner));
    }
    found.fail("cache",
               fmt::format("{}: {}, for {}: after a reboot with the store down nothing is published", cache,
                           std::generic_category().message(errno), owner),
               remedy);
  });
}

// As the loader, for whom alone its passwords and sockets are; and what a store of LMDB makes is his.
void check_stores(const Situation& situation, Findings& findings) {
  const auto user = loader_that_can_be(situation, findings, "stores");
  if (!user) return;
  for (const StoreConfig& store : situation.config->stores) {
    find_as(*user, findings, "store " + store.name, [&](Findings& found) {
      try {
        check_store(store, situation, found);
      } catch (const Error& error) {
        found.fail("store " + store.name, error.what(),
                   remedy_of(error, store, *situation.question.config_path));
      }
    });
  }
}

}  // namespace keysieve
