#include "core/worker/base/error.hpp"

#include <cerrno>
#include <system_error>

namespace keysieve {
namespace {

[[noreturn]] void throw_system_error(ErrorKind kind, const std::string& what, int error_number) {
  const bool is_denied = error_number == EACCES || error_number == EPERM;
  throw Error(is_denied ? ErrorKind::Permission : kind,
              what + ": " + std::generic_category().message(error_number));
}

}  // namespace

void throw_read_error(const std::string& what, int error_number) {
  throw_system_error(ErrorKind::MissingInput, what, error_number);
}

void throw_write_error(const std::string& what, int error_number) {
  throw_system_error(ErrorKind::CannotCreate, what, error_number);
}

}  // namespace keysieve
