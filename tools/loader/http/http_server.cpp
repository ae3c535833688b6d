#include "tools/loader/http/http_server.hpp"

#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr std::chrono::milliseconds kSweepInterval{500};  // of connections that are open

struct Free {
  void operator()(MHD_Response* response) const noexcept { MHD_destroy_response(response); }
};

MHD_Result send(MHD_Connection* connection, HttpAnswer answer) {
  const std::unique_ptr<MHD_Response, Free> response(
      MHD_create_response_from_buffer(answer.body.size(), answer.body.data(), MHD_RESPMEM_MUST_COPY));
  if (!response) return MHD_NO;
  answer.headers.emplace_back("Content-Type", answer.content_type);
  answer.headers.emplace_back("Cache-Control", "no-store");
  answer.headers.emplace_back("X-Content-Type-Options", "nosniff");
  answer.headers.emplace_back("Connection", "close");
  for (const auto& [name, value] : answer.headers) {
    if (MHD_add_response_header(response.get(), name.c_str(), value.c_str()) != MHD_YES) return MHD_NO;
  }
  return MHD_queue_response(connection, answer.status, response.get());
}

}  // namespace

struct HttpServer::Callbacks {
  static MHD_Result request(void* server, MHD_Connection* connection, const char* url, const char* method,
                            const char* /*version*/, const char* /*upload*/, std::size_t* /*upload_size*/,
                            void** /*request_state*/) noexcept {
    try {
      return send(connection, static_cast<HttpServer*>(server)->answer(method, url));
    } catch (const std::exception&) {
      return MHD_NO;  // closes the connection
    }
  }

  static void connection(void* server, MHD_Connection* connection, void** /*state*/,
                         MHD_ConnectionNotificationCode code) noexcept {
    auto& connections = static_cast<HttpServer*>(server)->connections_;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
      connections.erase(connection);
      return;
    }
    const int descriptor = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    try {
      connections[connection] = {descriptor, std::chrono::steady_clock::now()};
    } catch (const std::bad_alloc&) {
      ::shutdown(descriptor, SHUT_RDWR);
    }
  }
};

void HttpServer::Stop::operator()(MHD_Daemon* daemon) const noexcept {
  MHD_stop_daemon(daemon);
}

HttpServer::HttpServer(const std::string& address, std::optional<gid_t> group, AnswerPath answer,
                       std::chrono::milliseconds longest_connection)
    : answer_(std::move(answer)),
      longest_connection_(longest_connection),
      socket_(address, group),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  // libmicrohttpd closes the one that it is given.
  const int its_own = ::fcntl(socket_.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (!stop_.is_open() || its_own < 0) throw_write_error(address, errno);
  daemon_.reset(MHD_start_daemon(
      MHD_USE_EPOLL, 0, nullptr, nullptr, &Callbacks::request, this, MHD_OPTION_LISTEN_SOCKET, its_own,
      MHD_OPTION_CONNECTION_LIMIT, kMostConnections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      kMostBytesPerConnection, MHD_OPTION_NOTIFY_CONNECTION, &Callbacks::connection, this, MHD_OPTION_END));
  if (!daemon_) throw Error(ErrorKind::CannotCreate, address + ": libmicrohttpd cannot serve it");
  thread_ = std::thread([this] { serve(); });
}

HttpServer::~HttpServer() {
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

void HttpServer::serve() {
  eventfd_t told = 0;
  while (::eventfd_read(stop_.get(), &told) != 0) {
    wait();
    run();
    end_old_connections();
  }
}

// Once more after a connection has ended, because libmicrohttpd at its limit accepts new ones only then.
void HttpServer::run() {
  std::size_t before = 0;
  do {
    before = connections_.size();
    MHD_run(daemon_.get());
  } while (connections_.size() != before);
}

void HttpServer::wait() const {
  const MHD_DaemonInfo* info = MHD_get_daemon_info(daemon_.get(), MHD_DAEMON_INFO_EPOLL_FD);
  std::array waiting{pollfd{.fd = info->epoll_fd, .events = POLLIN, .revents = 0},
                     pollfd{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
  MHD_UNSIGNED_LONG_LONG milliseconds = 0;
  int timeout = connections_.empty() ? -1 : static_cast<int>(kSweepInterval.count());
  if (MHD_get_timeout(daemon_.get(), &milliseconds) == MHD_YES &&
      milliseconds < static_cast<unsigned>(kSweepInterval.count())) {
    timeout = static_cast<int>(milliseconds);
  }
  ::poll(waiting.data(), waiting.size(), timeout);
}

// A client that sends or takes a byte now and then would keep its connection for ever.
void HttpServer::end_old_connections() {
  const SteadyTime now = std::chrono::steady_clock::now();
  for (const auto& [connection, open] : connections_) {
    if (now - open.since > longest_connection_) ::shutdown(open.descriptor, SHUT_RDWR);
  }
}

HttpAnswer HttpServer::answer(std::string_view method, std::string_view path) const {
  try {
    if (method == "GET" || method == "HEAD") return answer_(path);
    return {.status = 405, .body = "GET and HEAD are answered here\n", .headers = {{"Allow", "GET, HEAD"}}};
  } catch (const std::exception& error) {
    return {.status = 500, .body = std::string(error.what()) + "\n"};
  }
}

}  // namespace keysieve
