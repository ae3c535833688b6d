#include "tests/support/web_server.hpp"

#include <filesystem>
#include <fstream>

namespace keysieve::test {

namespace fs = std::filesystem;

WebServer::WebServer(WebServerSettings settings) : settings_(std::move(settings)) {
  fs::permissions(directory_.path(), fs::perms::owner_all);
  fs::create_directory(directory_ / "www");
  port_ = start_at_free_port([this](int port) {
    port_ = port;
    start();
  });
}

// As root its workers are root too, since the folders of tests are private.
void WebServer::start() {
  const std::string here = directory_.path() + "/";
  std::ofstream(here + "nginx.conf")
      << "user root;\nmaster_process off;\ndaemon off;\nerror_log " << here << "error.log;\npid " << here
      << "pid;\nevents {}\nhttp {\n  log_format answers '$status $request_uri';\n  access_log " << here
      << "answers answers;\n  client_body_temp_path " << here << "body;\n  proxy_temp_path " << here
      << "proxy;\n  fastcgi_temp_path " << here << "fastcgi;\n  uwsgi_temp_path " << here
      << "uwsgi;\n  scgi_temp_path " << here << "scgi;\n  server {\n    listen 127.0.0.1:" << port_ << " "
      << settings_.listen << ";\n    root " << here << "www;\n"
      << settings_.directives << "\n  }\n}\n";
  const ProgramCall call{.program = "/usr/sbin/nginx",
                         .arguments = {"-e", here + "error.log", "-c", here + "nginx.conf"}};
  process_.start(call, here + "log", [this] { return connect_to(port_).is_open(); });
}

void WebServer::restart(const std::string& directives) {
  kill();
  settings_.directives = directives;
  start();
}

std::string WebServer::make_folder(const std::string& name) const {
  fs::create_directory(folder(name));
  return folder(name);
}

bool WebServer::has_open(const std::string& path) const {
  std::error_code ignored;
  for (const auto& open : fs::directory_iterator("/proc/" + std::to_string(process_.pid()) + "/fd")) {
    if (fs::read_symlink(open, ignored) == path) return true;
  }
  return false;
}

std::vector<std::string> WebServer::answers() const {
  std::vector<std::string> lines;
  std::ifstream log(directory_ / "answers");
  for (std::string line; std::getline(log, line);) lines.push_back(line);
  return lines;
}

WebServer& shared_web_server() {
  static WebServer server;
  return server;
}

}  // namespace keysieve::test
