// Somebody whose rights decide: a worker of php-fpm, or the loader.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/doctor/findings.hpp"
#include "tools/program/accounts.hpp"

namespace keysieve {

struct User {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;  // besides that one
  std::string root = "/";     // what he takes for it: another inside a chroot
  bool has_known_groups = true;
};

// Digits are a uid, whether it has a name or not. Nothing for a name that the system does not know.
std::optional<User> find_user(const std::string& name_or_uid);
// Nothing for a number that has no name.
std::optional<User> find_user(uid_t uid);
// The groups of one that has no name are not known, unless it is this process's.
User user_with(uid_t uid);
// Whose rights a process ("/proc/<pid>") has, and its root; nothing when it has ended.
std::optional<User> user_of_process(const std::string& process);

// Whether find_as() can be him.
bool can_be(const User& user);

// Runs the check in a process of its own that has become that user, and takes over what it finds. An
// exception becomes a finding about `subject`.
void find_as(const User& user, Findings& findings, const std::string& subject,
             const std::function<void(Findings&)>& check);

}  // namespace keysieve
