#include "tools/doctor/user.hpp"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/error.hpp"
#include "core/base/file_descriptor.hpp"

namespace keysieve {
namespace {

constexpr gid_t kNoGroup = 65534;

User described(const passwd& entry) {
  int count = 0;
  ::getgrouplist(entry.pw_name, entry.pw_gid, nullptr, &count);
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  ::getgrouplist(entry.pw_name, entry.pw_gid, groups.data(), &count);
  return {.uid = entry.pw_uid, .gid = entry.pw_gid, .groups = groups};
}

bool become(const User& user) {
  if (::geteuid() != 0) return true;  // can_be() has said that it is him
  return (user.root == "/" || (::chroot(user.root.c_str()) == 0 && ::chdir("/") == 0)) &&
         ::setgroups(user.groups.size(), user.groups.data()) == 0 && ::setgid(user.gid) == 0 &&
         ::setuid(user.uid) == 0;
}

Findings found_by(const std::string& subject, const std::function<void(Findings&)>& check) {
  Findings findings;
  try {
    check(findings);
  } catch (const std::exception& error) {
    findings.fail(subject, error.what(), "");
  }
  return findings;
}

// All that the child does. What it threw would run on as a second doctor.
[[noreturn]] void tell_as(const User& user, const std::string& subject,
                          const std::function<void(Findings&)>& check, const FileDescriptor& to) noexcept {
  try {
    Findings found;
    if (become(user)) {
      found = found_by(subject, check);
    } else {
      found.fail(subject, "cannot become uid " + std::to_string(user.uid), "ask as root");
    }
    using Json = nlohmann::ordered_json;
    write_all(to, as_bytes(found.to_json().dump(-1, ' ', false, Json::error_handler_t::replace)), "pipe");
  } catch (...) {
    ::_exit(EXIT_FAILURE);  // having said nothing
  }
  ::_exit(EXIT_SUCCESS);
}

std::string read_to_end(const FileDescriptor& file) {
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t count = 0; (count = ::read(file.get(), buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

std::optional<User> find_user(const std::string& name_or_uid) {
  uid_t uid = 0;
  const char* end = name_or_uid.data() + name_or_uid.size();
  const auto [last, error] = std::from_chars(name_or_uid.data(), end, uid);
  if (error == std::errc{} && last == end) return user_with(uid);
  const passwd* entry = ::getpwnam(name_or_uid.c_str());
  if (entry == nullptr) return std::nullopt;
  return described(*entry);
}

std::optional<User> find_user(uid_t uid) {
  const passwd* entry = ::getpwuid(uid);
  if (entry == nullptr) return std::nullopt;
  return described(*entry);
}

User user_with(uid_t uid) {
  if (const auto known = find_user(uid)) return *known;
  const auto self = uid == ::geteuid() ? user_of_process("/proc/self") : std::nullopt;
  return self.value_or(User{.uid = uid, .gid = kNoGroup, .groups = {}, .has_known_groups = false});
}

std::optional<User> user_of_process(const std::string& process) {
  std::ifstream status(process + "/status");
  if (!status) return std::nullopt;
  User user;
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string name;
    unsigned real = 0;
    words >> name;
    if (name == "Uid:") words >> real >> user.uid;
    if (name == "Gid:") words >> real >> user.gid;
    if (name == "Groups:") user.groups.assign(std::istream_iterator<gid_t>(words), {});
  }
  std::error_code failure;
  const auto root = std::filesystem::read_symlink(process + "/root", failure);
  if (!failure) user.root = root;
  return user;
}

bool can_be(const User& user) {
  return ::geteuid() == 0 || (::geteuid() == user.uid && user.root == "/");
}

void find_as(const User& user, Findings& findings, const std::string& subject,
             const std::function<void(Findings&)>& check) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_write_error("pipe", errno);
  const FileDescriptor from(ends[0]);
  FileDescriptor to(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) throw_write_error("fork", errno);
  if (child == 0) tell_as(user, subject, check, to);
  to.close();
  const std::string said = read_to_end(from);
  int status = 0;
  ::waitpid(child, &status, 0);
  const auto json = nlohmann::ordered_json::parse(said, nullptr, false);
  if (!json.is_array())
    throw Error(ErrorKind::CannotCreate, subject + ": the process that looked at it has crashed");
  findings.take_json(json);
}

}  // namespace keysieve
