#include "tools/doctor/worker.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/file_descriptor.hpp"
#include "core/base/random.hpp"
#include "tools/doctor/fastcgi.hpp"
#include "tools/doctor/worker_script.hpp"

namespace keysieve {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kEnding = ".php";  // php-fpm runs no other by default
constexpr mode_t kReadableByAll = 0644;

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string script_for(const std::string& word) {
  std::string script(kWorkerScript);
  return script.replace(script.find(kPlaceOfWord), std::string_view(kPlaceOfWord).size(), word);
}

// Of the script that is there now, for Ctrl-C; nullptr: none is.
std::atomic<const char*> path_to_remove{nullptr};

void remove_and_end(int signal) {
  if (const char* path = path_to_remove) ::unlink(path);
  ::raise(signal);  // which ends the process, once this has returned
}

void end_with_script_removed() {
  struct sigaction action {};
  action.sa_handler = remove_and_end;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

// A file of a name that nobody can foresee, for one request.
class Script {
 public:
  explicit Script(const std::string& folder)
      : path_(folder + "/keysieve-doctor-XXXXXX" + std::string(kEnding)),
        file_(::mkstemps(path_.data(), static_cast<int>(kEnding.size()))) {
    if (!file_.is_open()) throw_write_error("script " + path_, errno);
    path_to_remove = path_.c_str();
    end_with_script_removed();
  }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;
  ~Script() {
    ::unlink(path_.c_str());
    path_to_remove = nullptr;
  }
  void write(const std::string& text) const {
    if (::fchmod(file_.get(), kReadableByAll) != 0) throw_write_error("script " + path_, errno);
    write_all(file_, as_bytes(text), path_);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  FileDescriptor file_;
};

// What follows the headers.
std::string body_of(const std::string& output) {
  const auto end = output.find("\r\n\r\n");
  return end == std::string::npos ? output : output.substr(end + 4);
}

// What PHP says of itself, without its marks of HTML; ": " before it, if it says anything.
std::string first_line_of(const std::string& body) {
  std::string text;
  bool is_mark = false;
  for (const char character : body) {
    is_mark = character == '<' || (is_mark && character != '>');
    if (!is_mark && character != '>' && (character != '\n' || !text.empty())) text += character;
  }
  return text.empty() ? "" : ": " + text.substr(0, text.find('\n'));
}

Json answer_in(const std::string& output, const WorkerQuestion& question, const std::string& script) {
  const std::string body = body_of(output);
  const auto mark = body.rfind(kAnswerMark);
  if (mark == std::string::npos) {
    throw Error(ErrorKind::Data,
                question.address + ": the worker does not run " + script + first_line_of(body));
  }
  const std::string said = body.substr(mark + std::string_view(kAnswerMark).size());
  Json json = Json::parse(said.substr(0, said.find('\n')), nullptr, false);
  if (json.is_object()) return json;
  throw Error(ErrorKind::Config,
              question.address + ": the worker ran " + script + ", and failed" + first_line_of(said));
}

std::optional<User> user_in(const Json& json, const std::string& chroot) {
  for (const char* name : {"uid", "gid", "groups"}) {
    if (json.at(name).is_null()) return std::nullopt;
  }
  return User{.uid = json.at("uid"),
              .gid = json.at("gid"),
              .groups = json.at("groups"),
              .root = chroot.empty() ? "/" : chroot};
}

Worker worker_in(const Json& json, const std::string& chroot) {
  Worker worker;
  worker.php_version = json.at("php");
  worker.sapi = json.at("sapi");
  worker.is_thread_safe = json.at("zts");
  worker.pid = json.at("pid");
  worker.clock = json.at("clock");
  worker.user = user_in(json, chroot);
  worker.extension_version = json.at("extension");
  worker.snapshot_formats = json.at("formats");
  worker.instruction_set = json.at("instruction_set");
  worker.open_basedir = json.at("open_basedir");
  worker.is_enabled = json.at("enabled");
  worker.directory = json.at("directory");
  worker.owner = json.at("owner");
  for (const auto& [name, set] : json.at("sets").items()) {
    worker.sets[name] = {set.at("availability"), set.at("publication")};
  }
  return worker;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

}  // namespace

std::string Worker::php_minor() const {
  return php_version.substr(0, php_version.find('.', php_version.find('.') + 1));
}

std::string Worker::restart() const {
  return "systemctl restart php" + php_minor() + "-fpm";
}

Worker ask_worker(const WorkerQuestion& question, const std::vector<std::string>& set_names) {
  const std::string word = std::to_string(random_value<std::uint64_t>());
  const Script script(question.chroot + question.script_folder);
  script.write(script_for(word));
  const std::string seen_there = script.path().substr(question.chroot.size());
  const double asked_at = now();
  const std::string output = ask_fastcgi(question.address, {{"GATEWAY_INTERFACE", "CGI/1.1"},
                                                            {"REQUEST_METHOD", "GET"},
                                                            {"SCRIPT_FILENAME", seen_there},
                                                            {"SCRIPT_NAME", "/keysieve-doctor.php"},
                                                            {"REQUEST_URI", "/keysieve-doctor.php"},
                                                            {"SERVER_PROTOCOL", "HTTP/1.1"},
                                                            {"QUERY_STRING", joined(set_names)},
                                                            {kWordParameter, word}});
  const double answered_at = now();
  try {
    Worker worker = worker_in(answer_in(output, question, seen_there), question.chroot);
    worker.asked_at = asked_at;
    worker.answered_at = answered_at;
    return worker;
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::Data,
                question.address + ": the worker's answer is not understood: " + error.what());
  }
}

}  // namespace keysieve
