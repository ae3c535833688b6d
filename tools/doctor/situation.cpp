#include "tools/doctor/situation.hpp"

#include <algorithm>
#include <filesystem>

#include "core/base/error.hpp"
#include "tools/doctor/worker_process.hpp"
#include "tools/status/published_sets.hpp"

namespace keysieve {
namespace {

constexpr std::uint64_t kPublicationsThatFit = 3;

SetStatus look_at(const std::string& directory, const std::string& name) {
  SetReader reader = status_reader(directory, name);
  reader.follow();
  SetStatus status = set_status(reader, unix_now(), HugePages::Skip);
  status.damage = damage_of(reader);
  return status;
}

void gather_config(Situation& situation, Findings& findings) {
  if (!situation.question.config_path) return;
  try {
    situation.config = load_config(*situation.question.config_path);
  } catch (const Error& error) {
    findings.fail("configuration", error.what(),
                  "mend it, then: keysieved --config " + *situation.question.config_path + " --check-config");
  }
}

void gather_loaders(Situation& situation) {
  if (!situation.config) return;
  situation.loaders = loaders_with(*situation.question.config_path, situation.config->directory);
}

std::vector<std::string> configured_sets(const Situation& situation) {
  std::vector<std::string> names;
  if (situation.config) {
    for (const SetConfig& set : situation.config->sets) names.push_back(set.name);
  }
  return names;
}

std::vector<SetStatus> look_at_all(const std::string& directory, std::vector<std::string> names) {
  const std::vector<std::string> there = sets_in(directory);
  names.insert(names.end(), there.begin(), there.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<SetStatus> sets;
  sets.reserve(names.size());
  for (const std::string& name : names) sets.push_back(look_at(directory, name));
  return sets;
}

// A loader that runs does not make a directory that was removed; its unit does.
std::string remedy_without_directory(const Error& error) {
  return error.kind() == ErrorKind::Permission
             ? "ask as root, or as the loader's user"
             : "systemctl restart keysieved; or name the right one: --directory DIR";
}

void gather_sets(Situation& situation, Findings& findings) {
  const std::vector<std::string> configured = configured_sets(situation);
  try {
    situation.sets = look_at_all(situation.question.directory, configured);
    situation.has_directory = true;
  } catch (const Error& error) {
    findings.fail("directory", error.what(), remedy_without_directory(error));
    for (const std::string& name : configured) situation.sets.emplace_back().name = name;
  }
}

std::string why_no_worker(const Error& error, const WorkerQuestion& question) {
  switch (error.kind()) {
    case ErrorKind::Data:
      return "the pool may have a chroot, another /tmp, or an open_basedir: --chroot DIR, --script-folder "
             "DIR name a place that its workers can read";
    case ErrorKind::Config:
      return "PHP's error log says why: disable_functions of the pool may name what it calls";
    case ErrorKind::Unavailable:
      return "systemctl status 'php*-fpm'; the address stands in its pool: grep -r '^listen =' /etc/php";
    default:
      return "ask as root, or name another folder: --script-folder DIR (" + question.script_folder + ")";
  }
}

void gather_worker(Situation& situation, Findings& findings) {
  if (!situation.question.worker) return;
  std::vector<std::string> names;
  for (const SetStatus& set : situation.sets) names.push_back(set.name);
  try {
    situation.worker = ask_worker(*situation.question.worker, names);
    if (!situation.worker->user) situation.worker->user = user_of(situation.worker->pid);
    situation.reader = situation.worker->user;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Usage) throw;
    findings.fail("worker", error.what(), why_no_worker(error, *situation.question.worker));
  }
}

void gather_reader(Situation& situation) {
  if (!situation.question.reader) return;
  situation.reader = find_user(*situation.question.reader);
  if (!situation.reader)
    throw Error(ErrorKind::Usage, "--as: user \"" + *situation.question.reader + "\" is not known");
}

// As far as it is there.
std::filesystem::path resolved(const std::string& directory) {
  std::error_code failure;
  const auto path = std::filesystem::weakly_canonical(std::filesystem::path(directory) / "", failure);
  return failure ? std::filesystem::path(directory) : path;
}

bool is_same_directory(const std::string& one, const std::string& other) {
  std::error_code failure;
  return resolved(one) == resolved(other) || std::filesystem::equivalent(one, other, failure);
}

}  // namespace

std::uint64_t Situation::wanted_bytes() const {
  std::uint64_t bytes = 0;
  for (const SetStatus& set : sets) bytes += bytes_of(set);
  return kPublicationsThatFit * bytes;
}

const SetStatus* Situation::largest() const {
  const auto found = std::max_element(sets.begin(), sets.end(),
                                      [](const auto& a, const auto& b) { return bytes_of(a) < bytes_of(b); });
  return found == sets.end() || !found->published ? nullptr : &*found;
}

bool Situation::is_right_directory() const {
  return has_directory || config_of_this() != nullptr;
}

bool Situation::loader_publishes_here() const {
  return is_same_directory(config->directory, question.directory);
}

const LoaderConfig* Situation::config_of_this() const {
  return config && loader_publishes_here() ? &*config : nullptr;
}

bool Situation::is_configured(const std::string& set_name) const {
  const LoaderConfig* here = config_of_this();
  return here != nullptr && std::any_of(here->sets.begin(), here->sets.end(),
                                        [&](const SetConfig& set) { return set.name == set_name; });
}

bool Situation::worker_reads_this() const {
  return is_same_directory(question.worker->chroot + worker->directory, question.directory);
}

Situation gather(const DoctorQuestion& question, Findings& findings) {
  Situation situation;
  situation.question = question;
  gather_config(situation, findings);
  gather_loaders(situation);
  gather_sets(situation, findings);
  gather_worker(situation, findings);
  gather_reader(situation);
  situation.now = unix_now();
  return situation;
}

}  // namespace keysieve
