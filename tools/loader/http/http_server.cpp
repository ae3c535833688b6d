#include "tools/loader/http/http_server.hpp"

#include <fcntl.h>
#include <microhttpd.h>
#include <sys/socket.h>

#include <cerrno>

#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

constexpr unsigned kLongestSilenceSeconds = 10;  // of a client

MHD_Result send(MHD_Connection* connection, HttpAnswer answer) {
  const std::unique_ptr<MHD_Response, void (*)(MHD_Response*)> response(
      MHD_create_response_from_buffer(answer.body.size(), answer.body.data(), MHD_RESPMEM_MUST_COPY),
      &MHD_destroy_response);
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
    auto& open = static_cast<HttpServer*>(server)->open_;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
      std::erase_if(open, [connection](const auto& one) { return one.first == connection; });
      return;
    }
    const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    open.emplace_back(connection, info->connect_fd);
    if (open.size() > kMostConnections) ::shutdown(open.front().second, SHUT_RDWR);
  }
};

HttpServer::HttpServer(const std::string& address, std::optional<gid_t> group, AnswerPath answer)
    : answer_(std::move(answer)), socket_(address, group), daemon_(nullptr, &MHD_stop_daemon) {
  open_.reserve(kMostConnections + 1);
  // libmicrohttpd closes the one that it is given.
  const int its_own = ::fcntl(socket_.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (its_own < 0) throw_write_error(address, errno);
  daemon_.reset(MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, nullptr, nullptr, &Callbacks::request, this,
      MHD_OPTION_LISTEN_SOCKET, its_own, MHD_OPTION_CONNECTION_LIMIT, kMostConnections + 1,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, kMostBytesPerConnection, MHD_OPTION_CONNECTION_TIMEOUT,
      kLongestSilenceSeconds, MHD_OPTION_NOTIFY_CONNECTION, &Callbacks::connection, this, MHD_OPTION_END));
  if (!daemon_) throw Error(ErrorKind::CannotCreate, address + ": libmicrohttpd cannot serve it");
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
