#include "tools/stores/redis/redis_connection.hpp"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <system_error>

#include "tools/stores/store_file.hpp"

namespace keysieve {
namespace {

// Waits for a socket that does not block. A server that drips bytes would keep us forever: within each
// timeout this much must pass, or all that is left.
class Pace {
 public:
  Pace(int descriptor, std::chrono::milliseconds timeout)
      : descriptor_(descriptor), timeout_(timeout), end_(Clock::now() + timeout) {}

  void passed(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ < kBytesPerTimeout) return;
    bytes_ = 0;
    end_ = Clock::now() + timeout_;
  }

  // Returns when the socket is ready for that; false if it is not in time.
  [[nodiscard]] bool wait(short events) const {
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now());
      if (left.count() <= 0) return false;
      pollfd state{descriptor_, events, 0};
      if (::poll(&state, 1, static_cast<int>(left.count())) > 0) return true;
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kBytesPerTimeout = std::size_t{64} * 1024;

  int descriptor_;
  std::chrono::milliseconds timeout_;
  Clock::time_point end_;
  std::size_t bytes_ = 0;
};

// hiredis waits for nothing from now on.
bool stop_blocking(redisContext& context) {
  context.flags &= ~REDIS_BLOCK;
  const int flags = ::fcntl(context.fd, F_GETFL);
  return flags >= 0 && ::fcntl(context.fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

constexpr std::array kLoginCodes{"NOAUTH", "WRONGPASS"};
constexpr std::string_view kPermissionCode = "NOPERM";
// Errors of a server that is no master (any more), has just started, or has lost its cluster.
constexpr std::array kOutageCodes{"LOADING",  "READONLY", "MASTERDOWN", "CLUSTERDOWN",
                                  "TRYAGAIN", "MOVED",    "ASK",        "UNBLOCKED"};

// hiredis takes memory for an array when it has read how many elements it has: of 2^31, 16 GiB. Nothing here
// asks for more than the 16384 slots of a cluster.
constexpr std::size_t kMostElements = 65536;

void limit_arrays(redisReader& reader) {
  static const redisReplyObjectFunctions unlimited = *reader.fn;
  static redisReplyObjectFunctions limited = [] {
    redisReplyObjectFunctions functions = unlimited;
    functions.createArray = [](const redisReadTask* task, auto elements) -> void* {
      return static_cast<std::size_t>(elements) > kMostElements ? nullptr
                                                                : unlimited.createArray(task, elements);
    };
    return functions;
  }();
  reader.fn = &limited;
}

bool contains(std::span<const char* const> codes, std::string_view code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

}  // namespace

RedisAddress address_at(RedisAddress store, const RedisHost& host) {
  if (host.name.find('\0') != std::string::npos)
    throw Error(ErrorKind::Data, store.name + ": a server is said to be at an address with a NUL in it");
  store.name += ": " + to_text(host);
  store.host = host.name;
  store.port = host.port;
  return store;
}

void RedisConnection::connect() {
  if (is_usable()) return;
  const auto milliseconds = address_.timeout.count();
  const timeval timeout{milliseconds / 1000, milliseconds % 1000 * 1000};
  context_.reset(address_.socket_path.empty()
                     ? redisConnectWithTimeout(address_.host.c_str(), address_.port, timeout)
                     : redisConnectUnixWithTimeout(address_.socket_path.c_str(), timeout));
  replies_due_ = 0;
  reply_bytes_ = 0;
  if (context_ == nullptr) throw std::bad_alloc();
  if (context_->err != 0) {
    const bool timed_out =
        context_->err == REDIS_ERR_IO && (errno == EAGAIN || errno == ETIMEDOUT || errno == EINPROGRESS);
    if (timed_out) fail_as_late("cannot connect");
    fail("cannot connect", {context_->errstr});
  }
  limit_arrays(*context_->reader);
  context_->reader->maxbuf = 0;  // it is kept, as 0.14 aborts if there is no memory for a smaller one
  if (!stop_blocking(*context_)) fail("cannot connect", {std::generic_category().message(errno)});
  if (address_.socket_path.empty()) redisEnableKeepAlive(context_.get());
  try {
    if (address_.tls != nullptr) begin_tls();
    sign_in();
  } catch (...) {  // whatever ends it: the user or the database may not be the right one
    context_.reset();
    throw;
  }
}

// The server sends its session tickets before its first reply. After that reply nothing is readable while
// no reply is due, as without TLS.
void RedisConnection::begin_tls() {
  const Pace pace(context_->fd, address_.timeout);
  const auto wait = [&](short events) {
    if (!pace.wait(events)) fail_as_late("no TLS");
  };
  const TlsFailure failure = keysieve::begin_tls(*address_.tls, *context_, address_.host, wait);
  if (!failure.reason.empty()) fail("no TLS", failure);
  append({"PING"});
  const RedisReply reply = receive();
  if (!refuses_user(*reply)) check_greeting(*reply);  // we have not signed in yet
}

// If no reply is due, anything readable means that the server is closing the connection.
bool RedisConnection::is_usable() const noexcept {
  if (context_ == nullptr || replies_due_ > 0) return false;
  pollfd state{context_->fd, POLLIN, 0};
  return ::poll(&state, 1, 0) == 0;
}

void RedisConnection::sign_in() {
  if (!address_.password.empty()) {
    append(address_.user.empty() ? RedisCommand{"AUTH", address_.password}
                                 : RedisCommand{"AUTH", address_.user, address_.password});
    const RedisReply reply = receive();
    if (refuses_user(*reply) || text_of(*reply).find(address_.password) != std::string_view::npos) {
      // Shows only the first word of the server: some servers repeat the command with its arguments.
      const std::string code(code_of(*reply));
      context_.reset();
      throw Error(ErrorKind::Login, address_.name + ": the server refuses user or password (" + code + ")");
    }
    check_greeting(*reply);
  }
  if (address_.database != 0) {
    const std::string database = std::to_string(address_.database);
    append({"SELECT", database});
    check_greeting(*receive(), ": database " + database);
  }
}

void RedisConnection::check_greeting(const redisReply& reply, const std::string& subject) {
  if (reply.type != REDIS_REPLY_ERROR) return;
  context_.reset();
  check_reply(reply, address_.name + subject);
}

void RedisConnection::send(std::span<const RedisCommand> commands) {
  connect();
  for (const RedisCommand& command : commands) append(command);
  flush();
}

RedisReply RedisConnection::receive(std::string_view key, std::size_t max_bytes) {
  flush();
  Pace pace(context_->fd, address_.timeout);
  for (;;) {
    if (RedisReply reply = next_reply(key, max_bytes)) return reply;
    const std::size_t bytes = read_some();
    pace.passed(bytes);
    if (bytes == 0 && !pace.wait(POLLIN)) fail_as_late("no answer");
  }
}

RedisReply RedisConnection::receive_if_there(std::string_view key, std::size_t max_bytes) {
  for (;;) {
    if (RedisReply reply = next_reply(key, max_bytes)) return reply;
    if (read_some() == 0) return nullptr;
  }
}

// Takes a reply from what has come; nullptr when it is not whole yet. An array's elements leave hiredis'
// buffer as they come.
RedisReply RedisConnection::next_reply(std::string_view key, std::size_t max_bytes) {
  void* reply = nullptr;
  if (redisGetReplyFromReader(context_.get(), &reply) != REDIS_OK) fail("no answer");
  if (reply != nullptr) {
    if (replies_due_ > 0) --replies_due_;
    reply_bytes_ = context_->reader->len - context_->reader->pos;
    return RedisReply(static_cast<redisReply*>(reply));
  }
  if (reply_bytes_ > max_bytes) {
    context_.reset();
    throw_too_large(address_.name, key);
  }
  return nullptr;
}

std::size_t RedisConnection::read_some() {
  const std::size_t before = context_->reader->len;
  forget_tls_failures();
  if (redisBufferRead(context_.get()) != REDIS_OK) fail("no answer");
  const std::size_t bytes = context_->reader->len - before;
  reply_bytes_ += bytes;
  return bytes;
}

RedisReply RedisConnection::exchange(const RedisCommand& command, std::size_t max_bytes) {
  send(std::span(&command, 1));
  RedisReply reply = receive(command.front(), max_bytes);
  check_reply(*reply, address_.name);
  return reply;
}

void RedisConnection::append(const RedisCommand& command) {
  std::vector<const char*> parts;
  std::vector<std::size_t> sizes;
  for (const std::string_view part : command) {
    parts.push_back(part.data());
    sizes.push_back(part.size());
  }
  if (redisAppendCommandArgv(context_.get(), static_cast<int>(command.size()), parts.data(), sizes.data()) !=
      REDIS_OK) {
    context_.reset();
    throw std::bad_alloc();
  }
  ++replies_due_;
}

// redisBufferWrite() may be left without memory for an empty buffer. It crashes if asked whether it is done.
void RedisConnection::flush() {
  Pace pace(context_->fd, address_.timeout);
  for (std::size_t left = sdslen(context_->obuf); left > 0;) {
    const std::size_t before = left;
    forget_tls_failures();
    if (redisBufferWrite(context_.get(), nullptr) != REDIS_OK) fail_to_send();
    if (context_->obuf == nullptr) {
      context_.reset();
      throw std::bad_alloc();
    }
    left = sdslen(context_->obuf);
    pace.passed(before - left);
    if (left == before && !pace.wait(POLLOUT)) fail_as_late("cannot send");
  }
}

// A server that ends the connection may have said why just before, by an alert of TLS.
void RedisConnection::fail_to_send() {
  if (address_.tls != nullptr) {
    forget_tls_failures();
    context_->err = 0;
    if (redisBufferRead(context_.get()) == REDIS_OK) context_->err = REDIS_ERR_IO;
  }
  fail("cannot send");
}

void RedisConnection::fail(const std::string& what) {
  TlsFailure failure{context_->errstr};
  if (context_->err == REDIS_ERR_OOM) failure.reason = "a reply has too many elements, or memory is short";
  if (context_->err == REDIS_ERR_IO || context_->err == REDIS_ERR_EOF) {  // hiredis has no reason of TLS
    if (TlsFailure of_tls = take_tls_failure(); !of_tls.reason.empty()) failure = std::move(of_tls);
  }
  fail(what, failure);
}

void RedisConnection::fail(const std::string& what, const TlsFailure& failure) {
  context_.reset();
  const std::string message = address_.name + ": " + what + ": " + failure.reason;
  if (failure.kind == ErrorKind::Login) throw Error(ErrorKind::Login, message);
  throw RedisOutage(message);
}

void RedisConnection::fail_as_late(const std::string& what) {
  context_.reset();
  throw RedisOutage(address_.name + ": " + what + ": timed out after " +
                    std::to_string(address_.timeout.count()) + " ms");
}

std::span<redisReply* const> elements_of(const redisReply& reply) noexcept {
  if (reply.type != REDIS_REPLY_ARRAY) return {};
  return {reply.element, reply.elements};
}

std::string_view code_of(const redisReply& error) noexcept {
  const std::string_view text = text_of(error);
  return text.substr(0, text.find(' '));
}

// By the words of Redis, which has no code for AUTH where it wants no password.
bool refuses_user(const redisReply& reply) noexcept {
  if (reply.type != REDIS_REPLY_ERROR) return false;
  if (contains(kLoginCodes, code_of(reply)) || code_of(reply) == kPermissionCode) return true;
  return code_of(reply) == "ERR" && text_of(reply).find("AUTH") != std::string_view::npos;
}

// By the words of Redis, too: in a script this has no code. Redis 7.0, then Redis 8.0.
bool refuses_command(const redisReply& reply) noexcept {
  return code_of(reply) == kPermissionCode ||
         text_of(reply).find("The user executing the script can't") != std::string_view::npos ||
         text_of(reply).find("ACL failure in script") != std::string_view::npos;
}

void check_reply(const redisReply& reply, const std::string& server_name, std::string_view key) {
  if (reply.type != REDIS_REPLY_ERROR) return;
  const std::string_view code = code_of(reply);
  std::string message = server_name + ": ";
  if (!key.empty()) message.append(key).append(": ");
  const std::string_view text = text_of(reply).substr(0, text_of(reply).find('\0'));
  message.append(text.empty() ? "an error without a text" : text);
  if (contains(kLoginCodes, code)) throw Error(ErrorKind::Login, message);
  if (refuses_command(reply)) throw Error(ErrorKind::Permission, message);
  if (contains(kOutageCodes, code)) throw RedisOutage(message);
  if (code == "OOM") throw Error(ErrorKind::CannotCreate, message);
  if (code == "WRONGTYPE") throw Error(ErrorKind::Data, message);
  throw Error(ErrorKind::Unavailable, message);
}

}  // namespace keysieve
