#include "tools/program/program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>

namespace keysieve {
namespace {

constexpr int kExitInternal = 70;
constexpr int kExitNoMemory = 71;

bool is_lack_of_memory(const std::exception& error) noexcept {
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
}

const char* program_name = "";
std::terminate_handler default_handler = std::abort;

[[noreturn]] void end_program() noexcept {
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc& error) {
    static_cast<void>(std::fprintf(stderr, "%s: %s\n", program_name, text_of(error).data()));
    ::_exit(kExitNoMemory);
  } catch (...) {
  }
  default_handler();
  std::abort();
}

// What is opened gets the lowest free number. O_PATH: reading fails, for an input that is empty would be a
// list without keys.
void occupy_closed_streams() noexcept {
  for (int stream = 0; stream <= 2; ++stream) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    if (stream != 0 && ::open("/dev/null", O_WRONLY) != -1) continue;
    static_cast<void>(::open("/", O_PATH));
  }
}

}  // namespace

void begin_program(const char* program) noexcept {
  occupy_closed_streams();
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  program_name = program;
  default_handler = std::set_terminate(end_program);
}

void end_if_reader_is_gone(int error_number) noexcept {
  if (error_number == EPIPE && std::signal(SIGPIPE, SIG_DFL) != SIG_ERR) std::raise(SIGPIPE);
}

void end_if_reader_is_gone(const std::exception& error) noexcept {
  const auto* const of_system = dynamic_cast<const std::system_error*>(&error);
  if (of_system != nullptr) end_if_reader_is_gone(of_system->code().value());
}

int exit_status_of(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::Usage:
      return 64;
    case ErrorKind::Data:
    case ErrorKind::Incompatible:
    case ErrorKind::NotSigned:
    case ErrorKind::Older:
    case ErrorKind::MaxSize:
    case ErrorKind::MinKeys:
    case ErrorKind::MaxShrink:
    case ErrorKind::MaxFpr:
    case ErrorKind::MaxChanged:
    case ErrorKind::RequiredKeys:
    case ErrorKind::KnownAbsentSample:
      return 65;
    case ErrorKind::MissingInput:
      return 66;
    case ErrorKind::Unavailable:
    case ErrorKind::Unconfirmed:
      return 69;
    case ErrorKind::CannotCreate:
      return 73;
    case ErrorKind::Locked:
      return 75;
    case ErrorKind::Permission:
    case ErrorKind::NotTrusted:
    case ErrorKind::Login:
      return 77;
    case ErrorKind::Config:
      return 78;
  }
  return kExitInternal;
}

int exit_status_of(const std::exception& error) noexcept {
  return is_lack_of_memory(error) ? kExitNoMemory : kExitInternal;
}

std::string_view text_of(const std::exception& error) noexcept {
  return is_lack_of_memory(error) ? "not enough memory" : error.what();
}

}  // namespace keysieve
