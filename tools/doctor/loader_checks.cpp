// What a loader's configuration names: its sets, its cache and its stores, with the rights of the user who
// runs the doctor.
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "tools/doctor/doctor.hpp"
#include "tools/stores/store_url.hpp"
#include "tools/transfer/shared_seed.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {
namespace {

void compare_sets(const LoaderConfig& config, const PublishedSets& published, Findings& findings) {
  if (!published.is_known) return;
  for (const SetConfig& set : config.sets) {
    if (published.find(set.name) == nullptr) {
      findings.fail("set " + set.name, FactCode::NotPublished, "configured, but not published here");
    }
  }
  for (const SetFacts& set : published.sets) {
    if (!config.names_set(set.name)) {
      findings.warn("set " + set.name, FactCode::NotConfigured, "published here, but not configured");
    }
  }
}

void check_cache(const std::string& cache, const PublishedSets& published, Findings& findings) {
  const std::string fact = fmt::format("{}: {}", cache, owner_and_mode(cache));
  struct stat status {};
  if (::stat(cache.c_str(), &status) != 0 || ::access(cache.c_str(), R_OK | W_OK | X_OK) != 0) {
    throw_read_error(fact, errno);
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw Error(ErrorKind::NotTrusted, fact + ": its group or others may write to it");
  }
  check_room("cache", cache, fact, published.largest_bytes(), 0, findings);
}

// LMDB makes its lock file with the rights of the first user that opens the store: that must not be root.
bool would_make_a_file(const StoreConfig& store) {
  StoreUrl url = parse_store_url(store.url);
  if (url.scheme != "lmdb") return false;
  const std::string folder = take_folder(url);
  struct stat status {};
  std::error_code failure;
  return ::stat(folder.c_str(), &status) == 0 && status.st_uid != ::geteuid() &&
         !std::filesystem::exists(folder + "/lock.mdb", failure);
}

void compare_generation(Store& store, const std::string& set_name, const PublishedSets& published,
                        const std::string& subject, Findings& findings) {
  const auto record = read_stored_pointer(store, set_name);
  if (!record || !record->current) {
    return findings.fail(subject, FactCode::NotPushed,
                         fmt::format("{}: holds no snapshot of {}", store.name(), set_name));
  }
  const std::uint64_t there = record->current->generation;
  const std::string fact = fmt::format("{}: generation {} of {}", store.name(), there, set_name);
  const SetFacts* set = published.find(set_name);
  if (set == nullptr || !set->published) return findings.ok(subject, fact);
  const std::uint64_t here = set->published->generation;
  if (here == there) return findings.ok(subject, fact + ", as here");
  findings.warn(subject, here < there ? FactCode::Behind : FactCode::StoreBehind,
                fmt::format("{}, {} here", fact, here == 0 ? "a file" : std::to_string(here)));
}

void check_store(const StoreConfig& store, const LoaderConfig& config, const PublishedSets& published,
                 Findings& findings) {
  const std::string subject = "store " + store.name;
  if (would_make_a_file(store)) {
    return findings.warn(subject, FactCode::NotLookedAt,
                         store.shown + ": has no lock file yet, and this user is not its owner");
  }
  const auto opened = open_store(store.url, IfMissing::Refuse, Patience::None);
  for (const SetConfig& set : config.sets) {
    if (set.store == store.name) compare_generation(*opened, set.name, published, subject, findings);
  }
  for (const std::string& risk : opened->risks(true))
    findings.warn(subject, FactCode::StoreMayLose, store.shown + ": " + risk);
  const auto is_for_seen_set = [&](const SeenConfig& seen) { return seen.store == store.name; };
  if (std::ranges::none_of(config.seen, is_for_seen_set)) return;
  // Opening may ask nothing. The loader asks for the same before it restores a set.
  findings.ok(subject, fmt::format("{}: {}", store.shown,
                                   find_shared_seed(*opened) ? "saves seen sets" : "no seed yet"));
}

}  // namespace

void check_loader(const LoaderConfig& config, const PublishedSets& published, Findings& findings) {
  compare_sets(config, published, findings);
  try {
    check_cache(config.cache, published, findings);
  } catch (const Error& error) {
    findings.fail("cache", error);
  }
  for (const StoreConfig& store : config.stores) {
    try {
      check_store(store, config, published, findings);
    } catch (const Error& error) {
      findings.fail("store " + store.name, error);
    }
  }
}

}  // namespace keysieve
